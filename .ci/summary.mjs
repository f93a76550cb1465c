/**
 * Prints what failed in a run of the tests, with the first line of each error, and as the last line "N passed, N failed".
 * Arguments: vitest's JSON report, and how many steps failed. The exit code says the same as the last line.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const LISTED_MAX = 50;
const LINE_MAX = 200;

const [path, failedSteps] = process.argv.slice(2);
const report = readReport();
const suites = report.testResults ?? [];
const failures = suites.flatMap((suite) => {
  const file = relative(process.cwd(), suite.name);
  const tests = suite.assertionResults.filter((test) => test.status === 'failed');
  // A file that could not be loaded has no tests.
  if (suite.status === 'failed' && tests.length === 0) return [`${file}: ${firstLine(suite.message)}`];
  return tests.map((test) => `${file} > ${test.fullName}: ${firstLine(test.failureMessages[0])}`);
});
for (const line of failures.slice(0, LISTED_MAX)) console.log(`failed: ${line}`);
if (failures.length > LISTED_MAX) console.log(`and ${failures.length - LISTED_MAX} more`);
if (report.success === false && failures.length === 0) console.log('failed: an error outside the tests, printed above');

const passed = report.numPassedTests ?? 0;
// A step that failed outside the tests counts, so that "0 failed" is never printed over a failure.
const failed = failures.length || Number(failedSteps) || (passed === 0 ? 1 : 0);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function readReport() {
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
