// The student page. Everything a phone needs is in this one document.

import { render } from "preact";
import "../shared/tokens.css";
import "../shared/base.css";
import "../shared/ui/choices.css";
import "./student.css";
import { App } from "./App";
import { begin, page } from "./page";

const root = document.getElementById("app");
let view: string | undefined;

/**
 * Draws the page. When another view comes, its input or heading takes the focus: a screen reader starts there, and the
 * button that is gone leaves no focus behind. Within a view the focus never moves.
 */
function draw(): void {
  if (!root) return;
  render(<App page={page.get()} />, root);
  const main = root.querySelector("main");
  if (!main || main.dataset["view"] === view) return;
  view = main.dataset["view"];
  main.querySelector<HTMLElement>("input,h1")?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

page.watch(draw);
begin();
