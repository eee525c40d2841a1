#!/usr/bin/env node
import "./node-version.js";
import { existsSync } from "node:fs";

// In a checkout the sources run as they are; the package holds what they were built to.
const source = new URL("../src/cli/main.ts", import.meta.url);
const { main } = await import(existsSync(source) ? source.href : new URL("../dist/cli/main.js", import.meta.url).href);
await main(process.argv);
