/**
 * Answers the questions of a challenge as the browser of a report does. What the language decides is asked of the engine
 * that runs the test, what was recorded of real browsers is looked up, and the rest comes from the report.
 */
import {
  answersTo,
  type ProbeExpression,
  probeOperations,
  type Probes,
  type ProbeWorld,
  reportText,
  saltedAnswer,
} from '../../src/contract/edge/probes.ts';
import type { EnvironmentReport } from '../../src/contract/edge/page-reports.ts';
import { claimedBrowser } from '../../src/risk/headers/claimed-browser.ts';
import { recordedQuestions } from '../../src/risk/probes/recorded-questions.ts';
import { recordingsOf } from '../../src/risk/probes/recorded-answers.ts';

/** `engine`: the user agent of the engine that answers, where it is another than the report says. */
export function withAnswers(
  report: EnvironmentReport,
  probes: Probes | undefined,
  engine = report.userAgent,
): EnvironmentReport {
  if (probes === undefined) return report;
  const recorded = recordedAnswersOf(engine);
  const answers = answersTo(probes, worldOf(report)).map((answer, at) => {
    const place = places.get(JSON.stringify(named(probes.questions[at]!, probes.operations)));
    return place === undefined ? answer : saltedAnswer(probes.salt, recorded[place]!);
  });
  return { ...report, answers };
}

const places = new Map(recordedQuestions().map((question, place) => [JSON.stringify(question), place]));

/** A version that is not recorded answers as the one before, and a browser that nobody knows as WebKit. */
function recordedAnswersOf(userAgent: string): readonly string[] {
  const { engine, chromium, firefox } = claimedBrowser(userAgent);
  const recordings = recordingsOf(engine ?? 'safari');
  return (recordings.findLast(({ version }) => version <= (chromium || firefox)) ?? recordings[0]!).answers;
}

function named(expression: ProbeExpression<number>, operations: readonly number[]): ProbeExpression {
  if (typeof expression !== 'object' || expression === null) return expression;
  const [number, ...parts] = expression;
  return [probeOperations[operations[number]!]!, ...parts.map((part) => named(part, operations))];
}

/** As far as questions reach into it. */
function worldOf(report: EnvironmentReport): ProbeWorld {
  const { traits, marks, userAgent, hints } = report;
  const window = {
    ...(marks.includes('chrome-object') && { chrome: {} }),
    ...(marks.includes('gecko-screen') && { mozInnerScreenX: 0 }),
  };
  const navigator = {
    webdriver: traits.includes('webdriver'),
    userAgent,
    languages: traits.includes('no-languages') ? [] : ['en-US'],
    ...(hints === null ? {} : { userAgentData: hints }),
  };
  const properties = {
    '-webkit-app-region': 'chromium-css',
    '-moz-orient': 'gecko-css',
    '-webkit-nbsp-mode': 'webkit-css',
  };
  const CSS = { supports: (property: keyof typeof properties) => marks.includes(properties[property] as never) };
  return { realm: globalThis, page: { window, navigator, CSS }, report: reportText(report) };
}
