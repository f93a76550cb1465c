/**
 * Chooses the questions of one load, and what judging the answers needs: the page gets the one with the challenge of its
 * session, the other is sealed into the challenge. docs/risk.md says what the questions find and what they do not.
 */
import {
  answerTo,
  type ProbeExpression,
  probeOperations,
  type Probes,
  reportText,
  saltedAnswer,
  shortHash,
} from '../../contract/edge/probes.ts';
import type { EnvironmentReport } from '../../contract/edge/page-reports.ts';
import { claimedBrowser } from '../headers/claimed-browser.ts';
import { chromiumQuestions, standardQuestions } from './computed-questions.ts';
import { chooseRecorded } from './choose-recorded.ts';
import { Draw } from './draw.ts';
import { list, numbered } from './expressions.ts';
import { recordedQuestions } from './recorded-questions.ts';
import { reportQuestions } from './report-questions.ts';

/** For each question the answers that are right, or the places of the questions about the report that it joins. */
type RightAnswers = { answers: readonly string[]; weight: number } | { reports: readonly number[] } | 'report';

/** Sealed into the challenge. */
export interface ProbeKey {
  salt: string;
  right: readonly RightAnswers[];
}

interface Asked {
  question: ProbeExpression;
  right: RightAnswers;
}

const STANDARD_QUESTIONS = 4;
const CHROMIUM_QUESTIONS = 2;
/** The oldest version that was asked. */
const CHROMIUM_TEXTS_SINCE = 131;
const REPORT_QUESTIONS = 4;
/** Two wrong answers: one may be an oddity of a browser, an extension or a site. */
const WRONG_MIN = 20;
const COMPUTED = 10;

/** The service's own engine. Questions that it answers ask for nothing else. */
const ownWorld = { realm: globalThis, page: globalThis, report: '' };
const ownOrder = probeOperations.map((_, place) => place);

export function askProbes(userAgent: string, seed: number): { probes: Probes; key: ProbeKey } {
  const draw = new Draw(seed);
  const claim = claimedBrowser(userAgent);
  const chromiumCount = claim.chromium >= CHROMIUM_TEXTS_SINCE ? CHROMIUM_QUESTIONS : 0;
  const computed = [
    ...draw.some(standardQuestions, STANDARD_QUESTIONS),
    ...draw.some(chromiumQuestions, chromiumCount),
  ].map((make) => computedHere(make(draw)));
  const recorded = chooseRecorded(claim, draw).map(({ place, ...right }) => ({
    question: recordedQuestions()[place]!,
    right,
  }));
  const reports = draw.some([...reportQuestions.keys()], REPORT_QUESTIONS);
  const joined: ProbeExpression = list(...reports.map((place) => reportQuestions[place]!.question));
  const asked = draw.some<Asked>(
    [...computed, ...recorded, { question: joined, right: { reports } }, { question: ['report'], right: 'report' }],
    Number.POSITIVE_INFINITY,
  );
  const operations = draw.some(ownOrder, ownOrder.length);
  const salt = draw.word();
  return {
    probes: { operations, salt, questions: asked.map(({ question }) => numbered(question, operations)) },
    key: { salt, right: asked.map(({ right }) => right) },
  };
}

/** Whether at least two answers are wrong, or the answers do not fit the report. Without an answer each is wrong. */
export function hasWrongAnswers(key: ProbeKey, report: EnvironmentReport): boolean {
  const answers = report.answers ?? [];
  const isRight = (right: RightAnswers, place: number): boolean =>
    rightAnswers(right, report).some((answer) => saltedAnswer(key.salt, answer) === answers[place]);
  const wrong = key.right.filter((right, place) => !isRight(right, place));
  const weights = wrong.map((right) => (right !== 'report' && 'answers' in right ? right.weight : WRONG_MIN));
  return weights.reduce((sum, weight) => sum + weight, 0) >= WRONG_MIN;
}

function rightAnswers(right: RightAnswers, report: EnvironmentReport): readonly string[] {
  if (right === 'report') return [shortHash(reportText(report))];
  if ('answers' in right) return right.answers;
  return [shortHash(right.reports.map((place) => reportQuestions[place]!.answer(report)).join())];
}

function computedHere(question: ProbeExpression): Asked {
  return {
    question,
    right: { answers: [answerTo(numbered(question, ownOrder), ownOrder, ownWorld)], weight: COMPUTED },
  };
}
