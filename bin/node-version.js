/**
 * Ends the process with one line when this Node neither runs TypeScript as it is nor starts the runtime's tools.
 * Plain JavaScript, so that an old Node can read it.
 */
const [major, minor] = process.versions.node.split(".").map(Number);
if (!(major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18))) {
  console.error(
    `isthmus needs Node 22.18 or newer, this is ${process.version}: install a newer one, or run through npm ` +
      "(npm start, npx isthmus), which finds the Node that npm install brings for Linux and Windows.",
  );
  process.exit(1);
}
