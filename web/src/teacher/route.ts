// Where the teacher is, in the hash: `#/library`, `#/quiz/ID`, `#/quiz/new`, `#/import`, `#/games`, `#/shared/ID`, `#/signin`, `#/signup`,
// `#/forgot`, `#/reset/TOKEN`.

export type Route =
  | { view: "library" }
  | { view: "quiz"; id: string | undefined }
  | { view: "import" }
  | { view: "games" }
  | { view: "shared"; id: string }
  | { view: "signin" }
  | { view: "signup" }
  | { view: "forgot" }
  | { view: "reset"; token: string };

export function parseRoute(hash: string): Route {
  const [path = ""] = hash.replace(/^#?\/?/, "").split("?");
  const [view, id] = path.split("/");
  switch (view) {
    case "quiz":
      return { view: "quiz", id: !id || id === "new" ? undefined : decode(id) };
    case "shared":
      return { view: "shared", id: decode(id ?? "") };
    case "reset":
      return { view: "reset", token: decode(id ?? "") };
    case "forgot":
    case "import":
    case "games":
    case "signin":
    case "signup":
      return { view };
    default:
      return { view: "library" };
  }
}

export function href(route: Route): string {
  if (route.view === "reset") return `#/reset/${encodeURIComponent(route.token)}`;
  if (route.view === "shared") return `#/shared/${encodeURIComponent(route.id)}`;
  return route.view === "quiz" ? `#/quiz/${encodeURIComponent(route.id ?? "new")}` : `#/${route.view}`;
}

/** A hash that is no valid escape is taken as it stands rather than breaking the page. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Where to go after signing in: `#/signin?next=/report%3Fgame%3D…`. Only our own pages are followed, whoever made the link.
 */
export function nextAddress(hash: string): string | undefined {
  const at = hash.indexOf("?");
  if (at < 0) return undefined;
  const next = new URLSearchParams(hash.slice(at + 1)).get("next");
  return next && /^\/(report|host)\?[\w=&-]*$/.test(next) ? next : undefined;
}
