/**
 * Prints what failed in the runs of the tests, with the first line of each error, and as the last line
 * "N passed, N failed". Arguments: how many steps failed, and vitest's JSON report of each run. The exit code says the
 * same as the last line.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const LISTED_MAX = 50;
const LINE_MAX = 200;

const [failedSteps, ...paths] = process.argv.slice(2);
const reports = paths.map(readReport);
const suites = reports.flatMap((report) => report.testResults ?? []);
const failures = suites.flatMap((suite) => {
  const file = relative(process.cwd(), suite.name);
  const tests = suite.assertionResults.filter((test) => test.status === 'failed');
  // A file that could not be loaded has no tests.
  if (suite.status === 'failed' && tests.length === 0) return [`${file}: ${firstLine(suite.message)}`];
  return tests.map((test) => `${file} > ${test.fullName}: ${firstLine(test.failureMessages[0])}`);
});
for (const line of failures.slice(0, LISTED_MAX)) console.log(`failed: ${line}`);
if (failures.length > LISTED_MAX) console.log(`and ${failures.length - LISTED_MAX} more`);
const endedBadly = reports.filter((report) => report.success !== true).length;
if (endedBadly > 0 && failures.length === 0) console.log('failed: an error outside the tests, printed above');

const passed = reports.reduce((sum, report) => sum + (report.numPassedTests ?? 0), 0);
// A step that failed outside the tests, or a run without a report, counts: "0 failed" is never printed over a failure.
const failed = failures.length || Number(failedSteps) || endedBadly;
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}

/** Without the colours of a terminal. */
function firstLine(message = '') {
  const [line = ''] = stripVTControlCharacters(message).trim().split('\n');
  return line.slice(0, LINE_MAX);
}
