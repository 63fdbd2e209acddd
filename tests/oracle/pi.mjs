// Loads the real pi from an unpacked package, with the few internal functions its bundle does not export.
import { readFileSync, readdirSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Functions of pi that are needed and not exported; all are defined in one chunk of the bundle. */
const INTERNAL = ["estimateProjectedContextTokens", "prepareCompaction", "getSummarizationFailure"];

/** Import the package at `folder`; the result has pi's exports, the internal functions and `getSystemMessageText`. */
export async function loadPi(folder) {
  const bundle = join(resolve(folder), "dist", "bundle");
  const chunks = join(bundle, "chunks");
  const owner = (name) =>
    readdirSync(chunks).find((file) => readFileSync(join(chunks, file), "utf8").includes(`function ${name}(`));
  const wanted = new Map();
  for (const name of [...INTERNAL, "getSystemMessageText"]) {
    const file = owner(name);
    if (!file) throw new Error(`this pi has no function ${name}`);
    wanted.set(file, [...(wanted.get(file) ?? []), name]);
  }
  const alias = (name) => `oracle_${name}`;
  registerHooks({
    load(url, context, nextLoad) {
      const result = nextLoad(url, context);
      const names = url.startsWith("file:") ? wanted.get(fileURLToPath(url).slice(chunks.length + 1)) : undefined;
      if (!names) return result;
      const tail = names.map((name) => `${name} as ${alias(name)}`).join(",");
      return { ...result, source: `${result.source}\nexport{${tail}};` };
    },
  });
  const pi = { ...(await import(pathToFileURL(join(bundle, "index.js")).href)) };
  for (const [file, names] of wanted) {
    const chunk = await import(pathToFileURL(join(chunks, file)).href);
    for (const name of names) pi[name] = chunk[alias(name)];
  }
  return pi;
}
