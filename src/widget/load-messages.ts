/**
 * The widget's texts. English is built in; the other languages are one script, which is loaded when a page or a
 * visitor asks for one of them.
 */
import { type Localised, tagsFor } from '../locales/language.ts';
import type { WidgetMessages } from '../locales/messages.ts';
import { localisedRow, type Rows } from '../locales/rows.ts';
import { englishWidget } from '../locales/widget.generated.ts';
import { loadAsset } from './asset-loader.ts';
import type { ScriptLocation } from './script-location.ts';

export type MessageKey = keyof WidgetMessages;
export type LocalisedWidget = Localised<WidgetMessages>;

export const english: LocalisedWidget = localisedRow(['en'], englishWidget, {});

/** The language asked for, its base language, or English; never rejects. */
export async function loadMessages(location: ScriptLocation, language: string): Promise<LocalisedWidget> {
  const tags = tagsFor(language);
  if (tags.includes('en')) return english;
  const rows = await loadAsset<Rows>(location, 'languages').catch(() => ({}));
  return localisedRow(tags, englishWidget, rows);
}
