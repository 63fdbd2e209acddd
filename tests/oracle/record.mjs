// node record.mjs <pi package> <fake_llm.py> <work folder> : has the real pi make the sessions of tests/data/pi/sessions.
// The model is a scripted endpoint on loopback. Results are raw; scrub.py makes them fit to be stored.
import { spawn } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { loadPi } from "./pi.mjs";

const [folder, fakeModel, workFolder] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const home = join(workFolder, "home", "ada");
const cwd = join(home, "orchard");
const agentDir = join(home, ".pi", "agent");
const raw = join(workFolder, "raw");
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PROMPT = "Ada's orchard helper. Answer briefly and keep every weight in grams.";

// ---- the endpoint: a relay in front of the scripted model that can misbehave once per queued fault
const faults = [];
const upstreamPort = 18431;
const model = spawn("python3", [fakeModel, "--port", String(upstreamPort), "--scenario", join(here, "scenario.json")], { stdio: ["ignore", "pipe", "inherit"] });
await new Promise((done) => model.stdout.once("data", done));
const relay = createServer((incoming, outgoing) => {
  const chunks = [];
  incoming.on("data", (chunk) => chunks.push(chunk));
  incoming.on("end", () => {
    const fault = faults.shift();
    if (fault === "overloaded") {
      outgoing.writeHead(503, { "content-type": "application/json" });
      return outgoing.end('{"error":{"message":"the scripted model is overloaded"}}');
    }
    const upstream = request({ port: upstreamPort, host: "127.0.0.1", path: incoming.url, method: incoming.method, headers: { ...incoming.headers, host: "127.0.0.1" } }, (reply) => {
      const parts = [];
      reply.on("data", (part) => parts.push(part));
      reply.on("end", () => {
        let body = Buffer.concat(parts).toString("utf8");
        if (fault === "length") body = body.replaceAll('"finish_reason": "stop"', '"finish_reason": "length"');
        outgoing.writeHead(reply.statusCode, { "content-type": reply.headers["content-type"] });
        if (fault !== "stall") return outgoing.end(body);
        outgoing.write(body.slice(0, Math.floor(body.length / 2)));
      });
    });
    upstream.end(Buffer.concat(chunks));
  });
});
await new Promise((done) => relay.listen(0, "127.0.0.1", done));

// ---- an isolated home
rmSync(workFolder, { recursive: true, force: true });
mkdirSync(agentDir, { recursive: true });
mkdirSync(raw);
for (const key of Object.keys(process.env)) if (key.startsWith("PI_") || key.endsWith("_API_KEY")) delete process.env[key];
Object.assign(process.env, { HOME: home, PI_CODING_AGENT_DIR: agentDir, PI_OFFLINE: "1", PI_TELEMETRY: "0", PI_SKIP_VERSION_CHECK: "1", TZ: "UTC" });
const write = (path, text) => (mkdirSync(dirname(path), { recursive: true }), writeFileSync(path, text));
const settings = { compaction: { enabled: true, reserveTokens: 4096, keepRecentTokens: 120 }, retry: { enabled: true, maxRetries: 2, baseDelayMs: 10 }, images: { autoResize: false }, quietStartup: true, defaultProvider: "local", defaultModel: "scripted-1" };
write(join(agentDir, "settings.json"), JSON.stringify(settings));
write(join(agentDir, "SYSTEM.md"), PROMPT);
const scripted = (id) => ({ id, name: id, reasoning: true, input: ["text", "image"], contextWindow: 32000, maxTokens: 4000 });
write(join(agentDir, "models.json"), JSON.stringify({ providers: { local: { baseUrl: `http://127.0.0.1:${relay.address().port}/v1`, api: "openai-completions", apiKey: "none", models: [scripted("scripted-1"), scripted("scripted-2")] } } }));
const freshProject = () => {
  rmSync(cwd, { recursive: true, force: true });
  write(join(cwd, "harvest.py"), "PICKINGS = [(7, 1, 9250), (7, 2, 9000), (2, 1, 4100), (2, 3, 800), (5, 2, 12040)]\n\n\ndef total(pickings):\n    return sum(grams for _, _, grams in pickings)\n");
  write(join(cwd, "notes", "frost.txt"), "day 3: frost, the pickings of that night do not count\n");
  write(join(cwd, "pear.png"), Buffer.from(PIXEL, "base64"));
};

// ---- driving pi: command line, RPC, library
const command = (args, options = {}) =>
  new Promise((done, fail) => {
    const child = spawn(process.execPath, [join(folder, "dist", "bundle", "cli.js"), ...args], { cwd, stdio: ["pipe", "pipe", "pipe"], ...options });
    let errors = "";
    child.stderr.on("data", (text) => (errors += text));
    child.stdout.resume();
    child.stdin.end();
    child.on("exit", (code) => (code === 0 ? done() : fail(new Error(`pi ${args.join(" ")}: exit ${code} ${errors}`))));
  });

function remote(args) {
  const child = spawn(process.execPath, [join(folder, "dist", "bundle", "cli.js"), "--mode", "rpc", ...args], { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = [];
  let pending = "";
  child.stdout.on("data", (text) => {
    pending += text;
    const lines = pending.split("\n");
    pending = lines.pop();
    for (const line of lines) {
      const event = JSON.parse(line);
      for (const wait of [...waiting]) if (wait.test(event)) (waiting.splice(waiting.indexOf(wait), 1), wait.done(event));
    }
  });
  const until = (test) => new Promise((done) => waiting.push({ test, done }));
  let count = 0;
  const call = async (type, fields = {}) => {
    const id = `r${++count}`;
    const answer = until((event) => event.type === "response" && event.id === id);
    child.stdin.write(`${JSON.stringify({ id, type, ...fields })}\n`);
    const response = await answer;
    if (!response.success) throw new Error(`${type}: ${JSON.stringify(response)}`);
    return response.data;
  };
  const say = async (message, fields = {}) => {
    const settled = until((event) => event.type === "agent_settled" || event.type === "agent_end");
    await call("prompt", { message, ...fields });
    await settled;
    while ((await call("get_state")).isStreaming) await pause(20);
  };
  return { call, say, until, file: async () => (await call("get_state")).sessionFile, end: () => new Promise((done) => (child.on("exit", done), child.stdin.end())) };
}

const pi = await loadPi(folder);
async function open(manager) {
  const runtime = await pi.createAgentSessionRuntime(
    async ({ cwd, sessionManager, sessionStartEvent }) => {
      const services = await pi.createAgentSessionServices({ cwd });
      return { ...(await pi.createAgentSessionFromServices({ services, sessionManager, sessionStartEvent })), services, diagnostics: services.diagnostics };
    },
    { cwd, agentDir, sessionManager: manager ?? pi.SessionManager.create(cwd) },
  );
  return runtime;
}
const ids = (session, test) => session.sessionManager.getEntries().filter(test).map((entry) => entry.id);
const role = (name) => (entry) => entry.type === "message" && entry.message.role === name;
const keep = (file, name) => copyFileSync(file, join(raw, `${name}.jsonl`));
const newest = async () => (await pi.SessionManager.list(cwd))[0].path;

// ---- the sessions
const sessions = {
  async "print-tools"() {
    rmSync(join(agentDir, "SYSTEM.md"));
    await command(["-p", "--name", "Orchard figures", "What does harvest.py do?"]);
    await command(["-p", "-c", "--thinking", "low", "Add a sum per tree and try it."]);
    await command(["-p", "-c", "Write a report of it."]);
    keep(await newest(), "print-tools");
    write(join(agentDir, "SYSTEM.md"), PROMPT);
  },
  async "rpc-errors"() {
    const pi = remote([]);
    await pi.say("Break something on purpose.");
    await pi.call("bash", { command: "echo shown; exit 1" });
    await pi.call("bash", { command: "echo hidden from the model", excludeFromContext: true });
    await pi.call("bash", { command: "true" });
    await pi.say("Fail outright, please.");
    faults.push("stall");
    const started = pi.until((event) => event.type === "message_update" && event.assistantMessageEvent?.type === "text_delta");
    const ended = pi.until((event) => event.type === "agent_end");
    await pi.call("prompt", { message: "Think it over slowly." });
    await started;
    await pi.call("abort");
    await ended;
    faults.push("overloaded");
    await pi.say("Go on after the overload.");
    faults.push("length");
    await pi.say("Think it over slowly, but shorter.");
    await pi.say("Go on.");
    keep(await pi.file(), "rpc-errors");
    await pi.end();
  },
  async branches() {
    const { session } = await open();
    await session.prompt("What does harvest.py do?");
    const forkPoint = session.sessionManager.getLeafId();
    session.setSessionName("Which unit");
    await session.prompt("Try kilograms.");
    await session.navigateTree(forkPoint, { summarize: true, customInstructions: "Name the files.", label: "kilos tried" });
    await session.prompt("Try grams.");
    const grams = session.sessionManager.getLeafId();
    session.sessionManager.appendLabelChange(grams, "keep");
    await session.setModel(session.modelRuntime.getModel("local", "scripted-2"));
    session.setThinkingLevel("high");
    await session.prompt("Write a report.");
    const second = ids(session, role("user"))[1];
    await session.navigateTree(second);
    await session.prompt("Go on without a summary.");
    await session.navigateTree(grams, { label: "back here" });
    session.sessionManager.appendLabelChange(forkPoint, "start");
    session.sessionManager.appendLabelChange(forkPoint, undefined);
    await session.navigateTree(ids(session, role("user"))[0], { summarize: true });
    await session.prompt("Go on before the first question.");
    session.sessionManager.resetLeaf();
    session.refreshContext();
    await session.prompt("Go on from a second root.");
    await session.navigateTree(grams);
    await session.prompt("Skip the frost days.");
    session.setSessionName("Units\nand branches");
    keep(session.sessionFile, "branches");
    session.dispose();
  },
  async "compacted-twice"() {
    const { session } = await open();
    await session.prompt("What does harvest.py do?");
    await session.prompt("Add a sum per tree and try it.");
    const early = session.sessionManager.getLeafId();
    await session.compact();
    await session.prompt("Write a report.");
    await session.prompt("Skip the frost days.");
    await session.compact("the widths of the columns");
    await session.prompt("Go on.");
    const late = session.sessionManager.getLeafId();
    await session.navigateTree(early);
    await session.prompt("Try kilograms.");
    await session.navigateTree(late, { summarize: true });
    await session.prompt("Go on after the detour.");
    keep(session.sessionFile, "compacted-twice");
    session.dispose();
  },
  async "retain-none"() {
    const { session } = await open();
    await session.prompt("What does harvest.py do?");
    await session.prompt("Try grams.");
    session.sessionManager.appendCompaction("Everything so far: weights stay in grams.", undefined, 2030, { readFiles: ["harvest.py"], modifiedFiles: [] }, true);
    session.refreshContext();
    await session.prompt("Go on from nothing.");
    session.sessionManager.appendCompaction("A summary whose kept entry does not exist.", "deadbeef", 1712);
    session.refreshContext();
    await session.prompt("Go on from an unknown entry.");
    keep(session.sessionFile, "retain-none");
    session.dispose();
  },
  async "edits-and-extras"() {
    const { session } = await open();
    const manager = session.sessionManager;
    const image = { type: "image", data: PIXEL, mimeType: "image/png" };
    await session.prompt("Describe this picture.", { images: [image] });
    await session.prompt("Read the picture from its file.");
    manager.appendCustomEntry("orchard.state", { trees: [2, 5, 7], open: true });
    await session.sendCustomMessage({ customType: "orchard.weather", content: "Frost is expected on day 3.", display: true, details: { source: "almanac" } });
    await session.sendCustomMessage({ customType: "orchard.photo", content: [{ type: "text", text: "The pear again:" }, image], display: false });
    await session.prompt("Add a sum per tree.");
    const results = ids(session, role("toolResult"));
    const users = ids(session, role("user"));
    const replies = ids(session, role("assistant"));
    manager.appendContextEdit(results.at(-1), null);
    manager.appendContextEdit(results.at(-2), { content: "the edit went through" });
    manager.appendContextEdit(replies.at(-1), { content: "Done; tree 7 has 18250 g." });
    manager.appendContextEdit(users[0], { content: [{ type: "text", text: "There was a picture here." }] });
    manager.appendContextEdit(ids(session, (entry) => entry.type === "custom_message")[0], { content: "No frost after all." });
    session.refreshContext();
    const usage = (input, output) => ({ input, output, cacheRead: 0, cacheWrite: 0, totalTokens: input + output, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } });
    manager.appendUsage("cache_warm", "local", "scripted-1", usage(1200, 1), "kept warm");
    await session.prompt("Go on.");
    manager.appendContextEdit(results.at(-2), { content: [{ type: "text", text: "edited twice, the last one counts" }] });
    session.refreshContext();
    const before = manager.getLeafId();
    await session.prompt("Skip the frost days.");
    await session.navigateTree(before);
    manager.appendContextEdit(users.at(-1), null);
    session.refreshContext();
    await session.prompt("Try grams.");
    await session.compact();
    keep(session.sessionFile, "edits-and-extras");
    session.dispose();
  },
  async "fork-and-clone"() {
    const runtime = await open();
    const { session } = runtime;
    await session.prompt("What does harvest.py do?");
    session.sessionManager.appendLabelChange(ids(session, role("user"))[0], "first question");
    await session.prompt("Try kilograms.");
    session.sessionManager.appendLabelChange(session.sessionManager.getLeafId(), "kilos");
    await session.prompt("Try grams.");
    session.setSessionName("Grams or kilos");
    const target = ids(session, role("user"))[2];
    const source = session.sessionFile;
    keep(source, "fork-source");
    await runtime.fork(target);
    await runtime.session.prompt("Go on in the fork.");
    keep(runtime.session.sessionFile, "fork-before");
    await runtime.switchSession(source);
    await runtime.fork(runtime.session.sessionManager.getLeafId(), { position: "at" });
    await runtime.session.prompt("Go on in the clone.");
    keep(runtime.session.sessionFile, "clone");
    await runtime.dispose();
  },
  async "moved-away"() {
    const gone = join(home, "pasture");
    cpSync(cwd, gone, { recursive: true });
    await command(["-p", "--no-tools", "Go on in a folder that will be gone."], { cwd: gone });
    await command(["-p", "-c", "Try grams."], { cwd: gone });
    keep((await pi.SessionManager.list(gone))[0].path, "moved-away");
    rmSync(gone, { recursive: true });
  },
};

let failed = false;
try {
  for (const [name, make] of Object.entries(sessions)) {
    freshProject();
    console.log(name);
    await make();
  }
} catch (error) {
  console.error(error);
  failed = true;
} finally {
  relay.close();
  model.kill();
}
console.log(readdirSync(raw).join(" "));
process.exit(failed ? 1 : 0);
