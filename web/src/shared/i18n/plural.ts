// Choosing a plural form by the language's own rules. Dictionaries are plain typed objects, one folder per language;
// a key that a language lacks fails the type check.

type Forms = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>;

/** A function that picks the form for a number and puts the number where `#` stands. */
export function plurals(language: string): (count: number, forms: Forms) => string {
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  return (count, forms) => (forms[rules.select(count)] ?? forms.other).replace("#", () => numbers.format(count));
}
