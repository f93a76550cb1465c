/**
 * Every language of the widget but English, in one script that is loaded when a page or a visitor
 * asks for one of them.
 */
import { provide } from './asset-loader.ts';
import { asian } from './languages/asian.ts';
import { eastern } from './languages/eastern.ts';
import { european } from './languages/european.ts';
import { rightToLeft } from './languages/right-to-left.ts';
import type { LanguageRow } from './element/widget-messages.ts';

export const languageTable: Record<string, LanguageRow> = {
  ...european,
  ...eastern,
  ...rightToLeft,
  ...asian,
};

provide('languages', languageTable);
