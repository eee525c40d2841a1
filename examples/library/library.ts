/** The library itself: shelves and books in memory. Requests and resources have the shape of their ProtoJSON. */
import type { Errors, Violation } from "./errors.ts";
import { cutPage, type PageRequest } from "./page.ts";

export type Shelf = { readonly name: string; readonly theme: string; readonly createTime?: string };

export type Book = {
  readonly name: string;
  readonly title: string;
  readonly authors: readonly string[];
  readonly pages: number;
  /** int64: a decimal text. */
  readonly copiesSold: string;
  readonly genre: string;
  readonly createTime?: string;
  readonly updateTime?: string;
};

export type BookEvent = { readonly kind: "FOUND" | "CREATED" | "UPDATED" | "DELETED"; readonly book: Book };

/** Fields of a book that a caller may write, by their ProtoJSON names, with their zero values. */
const WRITABLE = { title: "", authors: [], pages: 0, copiesSold: "0", genre: "GENRE_UNSPECIFIED" } as const;
type Writable = keyof typeof WRITABLE;

const ID = /^[A-Za-z0-9][A-Za-z0-9-]*$/;

export class Library {
  readonly #errors: Errors;
  readonly #shelves = new Map<string, Shelf>();
  readonly #books = new Map<string, Book>();
  readonly #watchers = new Set<(event: BookEvent) => void>();

  constructor(errors: Errors) {
    this.#errors = errors;
  }

  listShelves(page: PageRequest): { shelves: readonly Shelf[]; nextPageToken: string } {
    const { items, nextPageToken } = cutPage("shelves", this.#shelves.values(), page, this.#errors);
    return { shelves: items, nextPageToken };
  }

  getShelf({ name }: { name: string }): Shelf {
    const shelf = this.#shelves.get(name);
    if (!shelf) throw this.#errors.notFound("Shelf", name);
    return shelf;
  }

  createShelf({ shelf, shelfId }: { shelf?: Shelf; shelfId: string }): Shelf {
    this.#check([...checkId("shelf_id", shelfId), ...required("shelf.theme", shelf?.theme)]);
    const name = `shelves/${shelfId}`;
    if (this.#shelves.has(name)) throw this.#errors.alreadyExists("Shelf", name);
    const created = { name, theme: shelf?.theme ?? "", createTime: now() };
    this.#shelves.set(name, created);
    return created;
  }

  deleteShelf({ name }: { name: string }): Record<string, never> {
    this.getShelf({ name });
    const books = this.#booksOn(name).length;
    if (books > 0) throw this.#errors.notEmpty(name, books);
    this.#shelves.delete(name);
    return {};
  }

  listBooks(request: PageRequest & { parent: string }): { books: readonly Book[]; nextPageToken: string } {
    const { name } = this.getShelf({ name: request.parent });
    const { items, nextPageToken } = cutPage(`${name}/books`, this.#booksOn(name), request, this.#errors);
    return { books: items, nextPageToken };
  }

  getBook({ name }: { name: string }): Book {
    const book = this.#books.get(name);
    if (!book) throw this.#errors.notFound("Book", name);
    return book;
  }

  createBook({ parent, book, bookId }: { parent: string; book?: Book; bookId: string }): Book {
    this.getShelf({ name: parent });
    this.#check([...checkId("book_id", bookId), ...checkBook(book)]);
    const name = `${parent}/books/${bookId}`;
    if (this.#books.has(name)) throw this.#errors.alreadyExists("Book", name);
    const time = now();
    return this.#put("CREATED", { ...WRITABLE, ...book, name, createTime: time, updateTime: time });
  }

  /** @param updateMask lowerCamelCase paths with commas, as ProtoJSON writes a FieldMask; "*" stands for all. */
  updateBook({ book, updateMask }: { book?: Book; updateMask?: string }): Book {
    if (!book) throw this.#errors.invalid([{ field: "book", description: "is required" }]);
    const old = this.getBook(book);
    const changed = { ...old };
    for (const field of this.#readMask(book, updateMask)) Object.assign(changed, { [field]: book[field] });
    this.#check(checkBook(changed));
    return this.#put("UPDATED", { ...changed, updateTime: now() });
  }

  deleteBook({ name }: { name: string }): Record<string, never> {
    const book = this.getBook({ name });
    this.#books.delete(name);
    this.#tell({ kind: "DELETED", book });
    return {};
  }

  moveBook({ name, to }: { name: string; to: string }): Book {
    const book = this.getBook({ name });
    this.#check(required("to", to));
    const moved = `${this.getShelf({ name: to }).name}/books/${name.slice(name.lastIndexOf("/") + 1)}`;
    if (this.#books.has(moved)) throw this.#errors.alreadyExists("Book", moved);
    this.deleteBook({ name });
    return this.#put("CREATED", { ...book, name: moved, updateTime: now() });
  }

  /** The books of a shelf, then each change, until `signal` aborts or `maxEvents` were sent (0: no limit). */
  async *watchBooks(
    { parent, maxEvents }: { parent: string; maxEvents: number },
    signal: AbortSignal,
  ): AsyncGenerator<BookEvent> {
    this.getShelf({ name: parent });
    const waiting: BookEvent[] = this.#booksOn(parent).map((book) => ({ kind: "FOUND", book }));
    let wake = () => {};
    const watcher = (event: BookEvent) => {
      if (!isOn(parent, event.book)) return;
      waiting.push(event);
      wake();
    };
    const leave = () => wake();
    this.#watchers.add(watcher);
    signal.addEventListener("abort", leave);
    try {
      for (let sent = 0; !signal.aborted && (maxEvents <= 0 || sent < maxEvents); ) {
        const event = waiting.shift();
        if (event) {
          sent++;
          yield event;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      this.#watchers.delete(watcher);
      signal.removeEventListener("abort", leave);
    }
  }

  #booksOn(shelf: string): Book[] {
    return [...this.#books.values()].filter((book) => isOn(shelf, book));
  }

  #put(kind: "CREATED" | "UPDATED", book: Book): Book {
    this.#books.set(book.name, book);
    this.#tell({ kind, book });
    return book;
  }

  #tell(event: BookEvent): void {
    for (const watcher of this.#watchers) watcher(event);
  }

  #check(violations: readonly Violation[]): void {
    if (violations.length > 0) throw this.#errors.invalid(violations);
  }

  /** Without a mask: the fields that are set, as google.aip.dev/134 says. */
  #readMask(book: Book, mask = ""): readonly Writable[] {
    const all = Object.keys(WRITABLE) as Writable[];
    if (mask === "*") return all;
    if (mask === "") return all.filter((field) => String(book[field]) !== String(WRITABLE[field]));
    const paths = mask.split(",");
    this.#check(
      paths
        .filter((path) => !Object.hasOwn(WRITABLE, path))
        .map((path) => ({ field: "update_mask", description: `"${path}" is no field of Book that can be written` })),
    );
    return paths as Writable[];
  }
}

function isOn(shelf: string, book: Book): boolean {
  return book.name.startsWith(`${shelf}/books/`);
}

function now(): string {
  return new Date().toISOString();
}

function required(field: string, value: string | undefined): Violation[] {
  return value ? [] : [{ field, description: "is required" }];
}

function checkId(field: string, id: string): Violation[] {
  return ID.test(id) ? [] : [{ field, description: "must be letters, digits and dashes" }];
}

function checkBook(book: Book | undefined): Violation[] {
  if (!book) return [{ field: "book", description: "is required" }];
  const violations = required("book.title", book.title);
  if (book.authors.length === 0) violations.push({ field: "book.authors", description: "must name one at least" });
  if (book.pages < 0) violations.push({ field: "book.pages", description: "must not be negative" });
  if (BigInt(book.copiesSold) < 0n) violations.push({ field: "book.copies_sold", description: "must not be negative" });
  return violations;
}
