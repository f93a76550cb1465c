/**
 * The widget's texts. English is built in. The other languages are one script, which is loaded when a page or a
 * visitor asks for one of them.
 */
import { type Localised, localised, tagsFor } from '../../locales/language.ts';
import type { WidgetMessages } from '../../locales/messages.ts';
import { englishWidget } from '../../locales/widget.generated.ts';
import { loadAsset } from './asset-loader.ts';
import type { ScriptLocation } from './script-location.ts';

export type LocalisedWidget = Localised<WidgetMessages>;

export const english: LocalisedWidget = { tag: 'en', direction: 'ltr', messages: englishWidget };

/** The requested language, its base language, or English. Never rejects. */
export async function loadMessages(location: ScriptLocation, language: string): Promise<LocalisedWidget> {
  const tags = tagsFor(language);
  if (tags.includes('en')) return english;
  const others = await loadAsset<Record<string, WidgetMessages>>(location, 'languages').catch(() => ({}));
  return localised(tags, { en: englishWidget, ...others });
}
