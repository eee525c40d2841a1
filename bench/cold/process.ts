/** A fresh process of Node: `process.ts SUBJECT SCHEMA CALL`, three files. Prints milliseconds, by a clock inside. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Transcode } from "./calls.ts";
import type { Call } from "./fixtures.ts";
import { CALLS, type Round } from "./round.ts";

const [, , subject = "", schemaPath = "", callPath = ""] = process.argv;
const schema = await readFile(schemaPath);
const { message, body }: Call = JSON.parse(await readFile(callPath, "utf8"));
const json = new TextEncoder().encode(body);

const start = performance.now();
const { open }: { open(schema: ArrayBuffer, message: string): Transcode } = await import(
  pathToFileURL(resolve(subject)).href
);
const transcode = open(new Uint8Array(schema).buffer, message);
transcode(json);
const first = performance.now();
for (let calls = 1; calls < CALLS; calls++) transcode(json);
const last = performance.now();

console.log(JSON.stringify({ first: first - start, rest: last - first } satisfies Round));
