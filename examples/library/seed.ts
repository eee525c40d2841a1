/** What stands in the library when it opens. */
import type { Library } from "./library.ts";

const SHELVES = [
  { id: "history", theme: "How we came here" },
  { id: "nature", theme: "Birds, beasts and flowers" },
  { id: "novels", theme: "Long stories" },
];

const BOOKS = [
  { shelf: "novels", id: "emma", title: "Emma", authors: ["Jane Austen"], pages: 474, genre: "NOVEL" },
  { shelf: "novels", id: "middlemarch", title: "Middlemarch", authors: ["George Eliot"], pages: 880, genre: "NOVEL" },
  { shelf: "novels", id: "moby-dick", title: "Moby-Dick", authors: ["Herman Melville"], pages: 635, genre: "NOVEL" },
  {
    shelf: "nature",
    id: "origin",
    title: "On the Origin of Species",
    authors: ["Charles Darwin"],
    pages: 502,
    genre: "SCIENCE",
  },
];

export function seedLibrary(library: Library): void {
  for (const { id, theme } of SHELVES) library.createShelf({ shelfId: id, shelf: { name: "", theme } });
  for (const { shelf, id, ...book } of BOOKS) {
    library.createBook({ parent: `shelves/${shelf}`, bookId: id, book: { ...book, name: "", copiesSold: "12000000" } });
  }
}
