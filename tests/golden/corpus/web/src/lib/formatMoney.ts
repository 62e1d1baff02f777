const DECIMALS: Record<string, number> = { JPY: 0, KWD: 3 };

/** Shows an amount in minor units the way the reader's language writes money. */
export function formatMoney(minor: number, currency: string, locale?: string): string {
  const decimals = DECIMALS[currency] ?? 2;
  return new Intl.NumberFormat(locale, { style: "currency", currency }).format(minor / 10 ** decimals);
}
