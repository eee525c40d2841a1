/** Cases of templates and rules: checked against src/route and src/schema themselves, without a gateway. */
import { clone, create, fromBinary, fromJson, type JsonValue, setExtension, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import { compileRules } from "../../src/route/rule.ts";
import { parseTemplate } from "../../src/route/template.ts";
import type { Template } from "../../src/schema/model.ts";
import { readSchema } from "../../src/schema/read.ts";
import type { RuleCase, TemplateCase } from "./case.ts";
import { expected, sameJson } from "./compare.ts";
import type { Descriptors } from "./descriptors.ts";
import { checkMentions } from "./expect-http.ts";

export function checkTemplate(wanted: TemplateCase): string[] {
  let template: Template;
  try {
    template = parseTemplate(wanted.text);
  } catch (error) {
    return wanted.valid ? [`${wanted.text}: refused: ${error}`] : [];
  }
  if (!wanted.valid) return [`${wanted.text}: accepted`];
  const failures: string[] = [];
  const compare = (what: string, want: unknown, came: unknown): void => {
    if (want !== undefined && !sameJson(want, came)) failures.push(expected(what, want, came));
  };
  compare("segments", wanted.segments, template.segments);
  compare("verb", wanted.verb, template.verb);
  compare(
    "variables",
    wanted.variables,
    template.variables.map(({ field, start, end, multi }) => ({ field, start, end, multi })),
  );
  compare("warning", wanted.warning, template.warning !== undefined);
  return failures;
}

export function checkRule(wanted: RuleCase, descriptors: Descriptors): string[] {
  const [service = "", method = ""] = wanted.method.split("/");
  const schema = readSchema(withRule(wanted, service, method, descriptors));
  const errors = compileRules(schema, undefined).faults.filter((fault) => fault.severity === "error");
  if (wanted.valid) return errors.map((fault) => `refused: ${fault.method} ${fault.template}: ${fault.message}`);
  const own = errors.filter((fault) => fault.method === `${service}.${method}`);
  if (own.length === 0) return ["accepted"];
  if (own.length < errors.length) return ["rules of other methods were refused too"];
  return checkMentions(wanted.message_mentions ?? [], own.map((fault) => fault.message).join("; "));
}

/** The set with the rule in place of the one that the method has. */
function withRule(wanted: RuleCase, service: string, method: string, descriptors: Descriptors): Uint8Array {
  const http = descriptors.files.getExtension("google.api.http");
  const ruleSchema = descriptors.files.getMessage("google.api.HttpRule");
  if (!http || !ruleSchema) throw new Error("the schema does not import google/api/annotations.proto");
  const set = clone(FileDescriptorSetSchema, fromBinary(FileDescriptorSetSchema, descriptors.set));
  for (const file of set.file) {
    const owner = file.service.find((desc) => `${file.package}.${desc.name}` === service);
    const target = owner?.method.find((desc) => desc.name === method);
    if (!target) continue;
    target.options ??= create(MethodOptionsSchema);
    setExtension(target.options, http, fromJson(ruleSchema, wanted.http_rule as JsonValue));
    return toBinary(FileDescriptorSetSchema, set);
  }
  throw new Error(`no method ${wanted.method}`);
}
