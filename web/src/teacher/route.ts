// Where the teacher is, in the hash: `#/library`, `#/quiz/ID`, `#/quiz/new`, `#/import`, `#/games`, `#/signin`, `#/signup`.

export type Route =
  | { view: "library" }
  | { view: "quiz"; id: string | undefined }
  | { view: "import" }
  | { view: "games" }
  | { view: "signin" }
  | { view: "signup" };

export function parseRoute(hash: string): Route {
  const [view, id] = hash.replace(/^#?\/?/, "").split("/");
  switch (view) {
    case "quiz":
      return { view: "quiz", id: !id || id === "new" ? undefined : decode(id) };
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
