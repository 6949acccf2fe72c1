declare const ACKNOWLEDGEMENTS: string | undefined;

/** The licences of the packages in the program. The bundler replaces ACKNOWLEDGEMENTS by them. */
export const acknowledgements = (): string =>
  typeof ACKNOWLEDGEMENTS === "string"
    ? ACKNOWLEDGEMENTS
    : "This program runs from a checkout: the licence of each package is in its folder in node_modules.";
