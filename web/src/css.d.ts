// Style sheets are imported for the build to bundle; they export nothing.
declare module "*.css";
