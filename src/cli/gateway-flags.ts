/** The flags of the plain gateway options, made from their table: `emitDefaults` is `--emit-defaults`. */
import { InvalidArgumentError, Option } from "commander";
import { describeMismatch, type GatewayOptions, type OptionKind, PLAIN_OPTIONS, parseOption } from "../options.ts";
import { variableName } from "../variables.ts";
import { OPTION_TEXTS } from "./option-texts.ts";

export type PlainOptionName = keyof typeof PLAIN_OPTIONS;

/** What commander makes of the flags: each option under its own name, undefined where neither flag nor variable is. */
export type PlainOptions = { readonly [Name in PlainOptionName]?: GatewayOptions[Name] };

/** A flag that takes the place of the option's variable. */
export function createFlag(name: PlainOptionName): Option {
  const kind = PLAIN_OPTIONS[name];
  const { default: standard, about } = OPTION_TEXTS[name];
  const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return new Option(`--${words} ${formatValue(kind)}`, `${about} (default: ${standard})`)
    .env(variableName(name))
    .argParser((text) => parseFlag(kind, text));
}

/** The variables that stand for the options. */
export function formatVariables(options: PlainOptions): Readonly<Record<string, string>> {
  const given = PLAIN_OPTION_NAMES.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [variableName(name), String(options[name])]));
}

export const PLAIN_OPTION_NAMES = Object.keys(PLAIN_OPTIONS) as readonly PlainOptionName[];

function formatValue(kind: OptionKind): string {
  if (kind === "flag") return "[true|false]";
  if (kind === "count") return "<number>";
  if (kind === "list") return "<a,b>";
  return kind === "text" || kind === "name" ? `<${kind}>` : `<${kind.join("|")}>`;
}

/** Empty is as not given, as it is for variables. */
function parseFlag(kind: OptionKind, text: string): unknown {
  if (text === "") return undefined;
  const value = parseOption(kind, text);
  const wanted = describeMismatch(kind, value);
  if (wanted) throw new InvalidArgumentError(`It must be ${wanted}.`);
  return value;
}
