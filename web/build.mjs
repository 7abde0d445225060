// Builds web/dist: five pages, hashed assets with .br and .gz beside them, and headers.json with each page's
// Content-Security-Policy. A page over its budget fails the build.
//
// While working on a page: `--no-compress` skips compression (and with it the budgets), `--only=host,screen` builds only
// these pages.

import { createHash } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import * as esbuild from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, "dist");
// Written here first and then put in place, so that nobody meets half a build.
const fresh = join(root, "node_modules", ".dist");
const compressing = !process.argv.includes("--no-compress");

// Safari 14.1 is the oldest engine esbuild can lower to (14.0 fails on destructuring).
const TARGET = "safari14.1";

// One student document per language; the other pages follow when they are translated.
const LANGUAGE = { tag: "en", dir: "ltr" };

// Brotli bytes of everything a page's first view loads (design page "web").
const PAGES = [
  { name: "student", entry: "src/student/main.tsx", title: "Homeroom", bytesMax: 14_000, inline: true },
  { name: "host", entry: "src/host/main.tsx", title: "Host a game · Homeroom", bytesMax: 40_000 },
  { name: "screen", entry: "src/screen/main.tsx", title: "Homeroom", bytesMax: 40_000 },
  { name: "teacher", entry: "src/teacher/main.tsx", title: "Homeroom", bytesMax: 60_000 },
  { name: "report", entry: "src/reports/main.tsx", title: "Report · Homeroom", bytesMax: 60_000 },
];

// A tab icon inside the document costs no second request.
const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><path d='M5 15 16 5l11 10v13h-8v-8h-6v8H5z' " +
  "fill='%230f4c3f'/><circle cx='26' cy='7' r='4' fill='%23f3b63f'/></svg>";

const COMMON = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  target: TARGET,
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  alias: { "@lang": `./src/shared/i18n/${LANGUAGE.tag}` },
  write: false,
  metafile: true,
  logLevel: "warning",
};

const sha256 = (text) => createHash("sha256").update(text, "utf8").digest("base64");

/**
 * The policy of a page. `'self'` in connect-src covers WebSockets only since Safari 15.4, so their schemes are named;
 * that admits sockets to other hosts, which no script of ours opens, and no other script runs.
 */
function policy(script, style) {
  return [
    "default-src 'none'",
    `script-src ${script}`,
    `style-src ${style}`,
    "img-src 'self' data:",
    "connect-src 'self' ws: wss:",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
}

function html({ title, head, foot }) {
  return (
    `<!doctype html><html lang="${LANGUAGE.tag}" dir="${LANGUAGE.dir}"><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width,initial-scale=1,viewport-fit=cover">` +
    `<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">` +
    `<title>${title}</title><link rel="icon" href="${ICON}">${head}` +
    `<body><div id="app"></div><noscript>Homeroom needs JavaScript.</noscript>${foot}</body></html>`
  );
}

const textOf = (result, suffix) => result.outputFiles.find((file) => file.path.endsWith(suffix))?.text.trim() ?? "";

/** One document, script and style inlined: the phone needs a single round trip. */
async function buildInlined(page) {
  const result = await esbuild.build({
    ...COMMON,
    entryPoints: { [page.name]: page.entry },
    outdir: dist,
    format: "iife",
  });
  const script = textOf(result, ".js");
  const style = textOf(result, ".css");
  if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) {
    throw new Error(`${page.name}: the bundle would close its own element`);
  }
  const document = html({
    title: page.title,
    head: `<style>${style}</style>`,
    foot: `<script>${script}</script>`,
  });
  return {
    files: new Map([[`${page.name}.html`, document]]),
    policies: { [`${page.name}.html`]: policy(`'sha256-${sha256(script)}'`, `'sha256-${sha256(style)}'`) },
    first: new Map([[page.name, [`${page.name}.html`]]]),
  };
}

/** Pages with hashed assets; what they share becomes chunks of its own. */
async function buildLinked(pages) {
  const result = await esbuild.build({
    ...COMMON,
    entryPoints: Object.fromEntries(pages.map((page) => [page.name, page.entry])),
    outdir: join(dist, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    publicPath: "/assets/",
    format: "esm",
    splitting: true,
  });
  const files = new Map(result.outputFiles.map((file) => [file.path.slice(dist.length + 1), file.text]));
  const outputs = result.metafile.outputs;
  const policies = {};
  const first = new Map();
  for (const page of pages) {
    const [path, output] = Object.entries(outputs).find(([, o]) => o.entryPoint === page.entry);
    const chunks = staticImports(outputs, path);
    const assets = [path, ...chunks].map((p) => p.replace(/^dist\//, ""));
    const styles = output.cssBundle ? [output.cssBundle.replace(/^dist\//, "")] : [];
    files.set(
      `${page.name}.html`,
      html({
        title: page.title,
        head:
          styles.map((s) => `<link rel="stylesheet" href="/${s}">`).join("") +
          assets.slice(1).map((s) => `<link rel="modulepreload" href="/${s}">`).join(""),
        foot: `<script type="module" src="/${assets[0]}"></script>`,
      }),
    );
    policies[`${page.name}.html`] = policy("'self'", "'self'");
    first.set(page.name, [`${page.name}.html`, ...assets, ...styles]);
  }
  return { files, policies, first };
}

/** Chunks that `path` loads at once, in turn. */
function staticImports(outputs, path, seen = new Set()) {
  for (const { path: imported, kind } of outputs[path].imports) {
    if (kind === "import-statement" && outputs[imported] && !seen.has(imported)) {
      seen.add(imported);
      staticImports(outputs, imported, seen);
    }
  }
  return [...seen];
}

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** Writes a file with its compressed siblings and returns its brotli size in bytes. */
async function emit(name, text) {
  const path = join(fresh, name);
  const bytes = Buffer.from(text, "utf8");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
  if (!compressing) return 0;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const [br, gz] = await Promise.all([toBrotli(bytes, { params }), toGzip(bytes, { level: 9 })]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
  return br.length;
}

async function main() {
  const only = process.argv.find((arg) => arg.startsWith("--only="))?.slice("--only=".length).split(",");
  const pages = PAGES.filter((page) => only?.includes(page.name) ?? true);
  const [inlined, linked] = await Promise.all([
    Promise.all(pages.filter((page) => page.inline).map(buildInlined)),
    buildLinked(pages.filter((page) => !page.inline)),
  ]);
  const parts = [...inlined, linked];
  await rm(fresh, { recursive: true, force: true });
  const sizes = new Map();
  for (const { files } of parts) {
    await Promise.all([...files].map(async ([name, text]) => sizes.set(name, await emit(name, text))));
  }
  const policies = Object.assign({}, ...parts.map((part) => part.policies));
  await writeFile(join(fresh, "headers.json"), `${JSON.stringify(policies, null, 2)}\n`);
  await rm(dist, { recursive: true, force: true });
  await rename(fresh, dist);

  if (!compressing) return;
  let over = false;
  for (const page of pages) {
    const names = parts.flatMap(({ first }) => first.get(page.name) ?? []);
    const bytes = names.reduce((sum, name) => sum + sizes.get(name), 0);
    const verdict = bytes <= page.bytesMax ? "ok" : "OVER BUDGET";
    over ||= bytes > page.bytesMax;
    console.log(`${page.name.padEnd(8)} ${String(bytes).padStart(6)} of ${page.bytesMax} B brotli, ${names.length} files: ${verdict}`);
  }
  if (over) process.exitCode = 1;
}

await main();
