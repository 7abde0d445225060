// Words of the frame around teachers' pages, of the HTTP layer and of dialogs.

export const shell = {
  skip: "Skip to content",
  brand: "Homeroom",
  loading: "Loading…",
  cancel: "Cancel",
  close: "Close",
  offline: "The server cannot be reached. Check the connection and try again.",
  unexpected: "Something went wrong. Try again.",
  tryAgain: "Try again",
  noCode: "No free game code was found. Try again.",
};

export type Shell = typeof shell;
