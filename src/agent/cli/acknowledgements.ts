declare const ACKNOWLEDGEMENTS: string | undefined;

/** The licences of what the program is made with. They are put in when it is bundled into one file. */
export const acknowledgements = (): string =>
  typeof ACKNOWLEDGEMENTS === "string"
    ? ACKNOWLEDGEMENTS
    : "This program runs from a checkout: each package's licence lies beside it in node_modules.";
