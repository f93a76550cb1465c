/** AS numbers in their one spelling, apart from the other types: the edge reads them in every request. */
export const ASN_MAX = 4_294_967_295;

/** Digits without `AS` before them, or `null`. */
export function asnDigits(text: string): string | null {
  const digits = /^(?:AS)?(0|[1-9]\d{0,9})$/i.exec(text)?.[1];
  return digits !== undefined && Number(digits) <= ASN_MAX ? digits : null;
}
