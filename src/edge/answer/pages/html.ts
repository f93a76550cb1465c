/**
 * HTML that cannot forget to escape: in an `html` template every value is text unless it is itself
 * an `html` template. Works for element content and for quoted attribute values, the only two places
 * the pages put values in (branding, paths and seals are all somebody else's text).
 */

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlValue = string | number | Html | null | readonly Html[];

export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0]!;
  for (const [index, value] of values.entries()) text += render(value) + strings[index + 1]!;
  return new Html(text);
}

/** For our own constants only (the style sheet): never for anything that came from outside. */
export function trustedHtml(text: string): Html {
  return new Html(text);
}

function render(value: HtmlValue): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return (value as readonly Html[]).map((part) => part.text).join('');
  return `${value as string | number}`.replace(/[&<>"']/g, (character) => entities[character]!);
}
