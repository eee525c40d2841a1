/** `node bin/run.js script.ts arguments…`: runs a script of this checkout where Node can, else says why not. */
import "./node-version.js";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

process.argv.splice(1, 1);
await import(pathToFileURL(resolve(process.argv[1])).href);
