/**
 * Questions about what the page's report also tells. Both are answered by one script at one moment, so they agree unless
 * the report was changed on its way, or written without a browser.
 */
import type { ProbeExpression } from '../../contract/edge/probes.ts';
import type { FamilyMark } from '../../contract/edge/page-report-names.ts';
import type { EnvironmentReport } from '../../contract/edge/page-reports.ts';
import { call, get, page, realm } from './expressions.ts';

interface ReportQuestion {
  question: ProbeExpression;
  answer: (report: EnvironmentReport) => string;
}

const USER_AGENT_MAX_CHARS = 512;
const navigator = page('navigator');
const supports = (property: string, value: string): ProbeExpression => call(page('CSS'), 'supports', property, value);
const mark = (name: FamilyMark, question: ProbeExpression): ReportQuestion => ({
  question,
  answer: ({ marks }) => String(marks.includes(name)),
});
/** A load asks some of them, by their place in this list. */
export const reportQuestions: readonly ReportQuestion[] = [
  {
    question: call(realm('Object'), 'is', get(navigator, 'webdriver'), true),
    answer: ({ traits }) => String(traits.includes('webdriver')),
  },
  {
    question: call(get(navigator, 'userAgent'), 'slice', 0, USER_AGENT_MAX_CHARS),
    answer: ({ userAgent }) => userAgent,
  },
  {
    question: call(realm('Object'), 'is', get(get(navigator, 'languages'), 'length'), 0),
    answer: ({ traits }) => String(traits.includes('no-languages')),
  },
  mark('chrome-object', ['has', page('window'), 'chrome']),
  mark('hints', ['has', navigator, 'userAgentData']),
  mark('chromium-css', supports('-webkit-app-region', 'drag')),
  mark('gecko-css', supports('-moz-orient', 'inline')),
  mark('gecko-screen', ['has', page('window'), 'mozInnerScreenX']),
  mark('webkit-css', supports('-webkit-nbsp-mode', 'space')),
];
