/** A table in Markdown: the first column to the left, figures to the right. */
export function formatTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  const rule = head.map((_, i) => (i === 0 ? "---" : "---:"));
  return [head, rule, ...rows].map(line).join("");
}
