/**
 * Answers the questions of a challenge as the browser of a report does. What the language decides is asked of the engine
 * that runs the test, and what only a browser knows comes from the report.
 */
import { answersTo, type Probes, type ProbeWorld, reportText } from '../../src/contract/edge/probes.ts';
import type { EnvironmentReport } from '../../src/contract/edge/page-reports.ts';

export function withAnswers(report: EnvironmentReport, probes: Probes | undefined): EnvironmentReport {
  return probes === undefined ? report : { ...report, answers: answersTo(probes, worldOf(report)) };
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
