// The real tools of pi in a folder: a call a line on stdin, {id, tool, args}, and a line on stdout for what came of it.
import { createInterface } from "node:readline";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, work] = process.argv.slice(2);
const pi = await import(pathToFileURL(join(resolve(folder), "dist", "bundle", "index.js")).href);
const tools = {
  read: pi.createReadToolDefinition(work),
  write: pi.createWriteToolDefinition(work),
  edit: pi.createEditToolDefinition(work),
  bash: pi.createBashToolDefinition(work),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, tool, args } = JSON.parse(line);
  let result;
  try {
    const { prepareArguments, execute } = tools[tool];
    const { content, details } = await execute(id, prepareArguments?.(structuredClone(args)) ?? args, undefined, undefined, {
      cwd: work,
    });
    result = { content, details, isError: false };
  } catch (error) {
    result = { content: [{ type: "text", text: error.message }], isError: true };
  }
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
