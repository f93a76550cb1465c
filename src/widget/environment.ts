/**
 * Finds out what browser this is, before a session is opened. The protect script loads it only then. The same file runs
 * as a worker, which reports what it sees of the browser. Never rejects: what cannot be found out is left out.
 */
import type { EnvironmentSign } from '../contract/edge/page-report-names.ts';
import type { EnvironmentReport } from '../contract/edge/page-reports.ts';
import { answersTo, type Probes, reportText } from '../contract/edge/probes.ts';
import { inFreshRealm, type Realm } from './dom/fresh-realm.ts';
import {
  asHints,
  browserTraits,
  featureBits,
  hasOtherFullVersion,
  pageSystem,
  scriptEngine,
  seenMarks,
  windowSigns,
} from './environment/engine-facts.ts';
import { falseNatives } from './environment/false-natives.ts';
import { askWorker, browserFacts, type WorkerFacts, workerFacts } from './environment/worker-facts.ts';
import { provide } from './loading/asset-loader.ts';
import { automationTraits, namesFound } from './protect/automation-traits.ts';

/** `asked`: the questions of the challenge, once it is there. A service that asks none gets no answers. */
export type Collect = (workerAddress: string, asked: Promise<Probes | undefined>) => Promise<EnvironmentReport>;

if (typeof document === 'undefined') postMessage(workerFacts());
else provide('environment', collect satisfies Collect);

async function collect(workerAddress: string, asked: Promise<Probes | undefined>): Promise<EnvironmentReport> {
  const report = await found(workerAddress);
  const probes = await asked;
  return probes === undefined ? report : { ...report, answers: answers(probes, report) };
}

/** Sites replace built-in functions of their own page, so an empty frame is asked where the page has a place for one. */
function answers(probes: Probes, report: EnvironmentReport): string[] {
  const ask = (realm: object): string[] => answersTo(probes, { realm, page: globalThis, report: reportText(report) });
  return inFreshRealm(ask) ?? ask(globalThis);
}

async function found(workerAddress: string): Promise<EnvironmentReport> {
  const [worker, full, permission] = await Promise.all([
    askWorker(workerAddress),
    hasOtherFullVersion(),
    hasOtherPermission(),
  ]);
  const marks = seenMarks();
  const own = browserFacts();
  const fresh = inFreshRealm((realm) => ({
    features: featureBits(realm),
    signs: [...falseNatives(realm), ...frameSigns(realm)],
  }));
  const signs: EnvironmentSign[] = [
    ...(worker === null ? [] : workerSigns(worker, own)),
    ...(fresh?.signs ?? []),
    ...windowSigns(marks.includes('chromium-css')),
    ...(full ? (['full-version'] as const) : []),
    ...(permission ? (['permission'] as const) : []),
  ];
  return {
    v: 1,
    traits: [...automationTraits(), ...browserTraits()],
    engine: scriptEngine(),
    marks,
    features: fresh?.features ?? 0,
    userAgent: own.userAgent.slice(0, 512),
    system: pageSystem(own.platform),
    hints: asHints(),
    renderer: worker?.renderer ?? null,
    signs,
  };
}

function workerSigns(worker: WorkerFacts, page: Omit<WorkerFacts, 'renderer'>): EnvironmentSign[] {
  return namesFound<EnvironmentSign>([
    // A phone that asks for the desktop's page tells its workers otherwise.
    ['worker-agent', worker.userAgent !== page.userAgent && navigator.maxTouchPoints === 0],
    ['worker-platform', worker.platform !== page.platform],
    ['worker-languages', worker.languages !== page.languages],
    ['worker-cores', worker.cores !== page.cores],
    ['worker-zone', worker.zone !== page.zone],
  ]);
}

function frameSigns({ navigator: other }: Realm): EnvironmentSign[] {
  const names = ['userAgent', 'platform', 'vendor', 'webdriver', 'hardwareConcurrency'] as const;
  const differs = names.some((name) => other[name] !== navigator[name]);
  return differs || other.languages.join() !== navigator.languages.join() ? ['frame'] : [];
}

/** Browsers answer alike in both ways; only "not asked yet" has two names. */
async function hasOtherPermission(): Promise<boolean> {
  try {
    const { state } = await navigator.permissions.query({ name: 'notifications' });
    const asked = Notification.permission;
    return isSecureContext && state !== (asked === 'default' ? 'prompt' : asked);
  } catch {
    return false;
  }
}
