/** What must never get into a report as it is, but for the line ends of the report's own. */
export const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\p{Cf}\p{Cs}\p{Cn}\p{Co}\p{Zl}\p{Zp}\u0000-\u0009\u000b-\u001f\u007f-\u009f]/u;
