/** The widget's texts in every language except English: a script that is loaded when one of them is needed. */
import { widgetRows } from '../locales/widget.generated.ts';
import { provide } from './asset-loader.ts';

provide('languages', widgetRows);
