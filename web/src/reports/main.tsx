// Entry of the report page: `/report?game=ID`.

import "../shared/tokens.css";
import "../shared/base.css";
import "../shared/ui/ui.css";
import "../shared/ui/choices.css";
import "../teacher/frame.css";
import "./report.css";
import { render } from "preact";
import { App } from "./app";

const root = document.getElementById("app");
if (root) render(<App />, root);
