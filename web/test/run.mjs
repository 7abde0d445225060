// Bundles test/*.test.ts into a scratch folder and runs them with Node's own runner.

import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const folder = dirname(fileURLToPath(import.meta.url));
// Beside node_modules, so that a bundle finds what it leaves out.
const out = await mkdtemp(join(folder, "..", "node_modules", ".test-"));
try {
  const entries = (await readdir(folder)).filter((name) => name.endsWith(".test.ts") || name.endsWith(".test.tsx"));
  await esbuild.build({
    absWorkingDir: join(folder, ".."),
    entryPoints: entries.map((name) => join(folder, name)),
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    jsx: "automatic",
    jsxImportSource: "preact",
    alias: { "@lang": "./src/shared/i18n/en" },
    loader: { ".css": "empty" },
    logLevel: "warning",
  });
  const files = (await readdir(out)).map((name) => join(out, name));
  const child = spawn(process.execPath, ["--enable-source-maps", "--test", ...files], {
    stdio: "inherit",
    // Where the Rust tests put the fixtures; a bundle no longer knows where its source was.
    env: { ...process.env, HOMEROOM_FIXTURES: join(folder, "..", "..", "protocol", "fixtures") },
  });
  process.exitCode = await new Promise((resolve) => child.on("exit", (code) => resolve(code ?? 1)));
} finally {
  await rm(out, { recursive: true, force: true });
}
