// Entry of the teacher's page.

import "../shared/tokens.css";
import "../shared/base.css";
import "../shared/ui/ui.css";
import "./frame.css";
import "./teacher.css";
import { render } from "preact";
import { App } from "./app";

const root = document.getElementById("app");
if (root) render(<App />, root);
