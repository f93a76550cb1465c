/**
 * The texts that visitors read, by field. `en.json` says which fields a section has; `scripts/build-locales.ts`
 * refuses a language whose sections have others. Every text is plain: no markup, no placeholders.
 */
import type english from './en.json';
import type { Localised } from './language.ts';

type Texts<Section extends keyof typeof english> = Readonly<Record<keyof (typeof english)[Section], string>>;

/** The gate's pages. */
export type PageMessages = Texts<'pages'>;
export type WidgetMessages = Texts<'widget'>;
/** Image, puzzle and audio tasks. */
export type TaskMessages = Texts<'tasks'>;
/** The page of a form's visitor whose browser runs no scripts. */
export type WaitPageMessages = Texts<'waitPage'>;

/** By lower-case language tag. */
export type PageLanguages = Readonly<Record<string, PageMessages>>;
export type LocalisedPage = Localised<PageMessages>;

/** One JSON file. Every language has the widget's texts. */
export interface Locale {
  pages?: PageMessages;
  widget: WidgetMessages;
  tasks?: TaskMessages;
  waitPage?: WaitPageMessages;
}
