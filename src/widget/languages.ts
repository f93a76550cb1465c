/** The widget's texts in every language except English: a script that is loaded when one of them is needed. */
import { expandRows } from '../locales/rows.ts';
import { widgetRows } from '../locales/widget.generated.ts';
import { provide } from './loading/asset-loader.ts';

provide('languages', expandRows(widgetRows));
