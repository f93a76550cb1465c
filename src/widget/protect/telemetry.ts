/**
 * Reports how much a visitor uses the page, and traits of a browser that a program controls. What is counted belongs to
 * one session: when the browser gets another one, in this page or in another tab, counting starts again, because the
 * service refuses a report that tells of a time before its session.
 */
import type { TelemetryReport } from '../../contract/edge/page-reports.ts';
import { cookieSessionId } from '../session-cookie.ts';
import { automationTraits, hasAgentMarks } from './automation-traits.ts';
import { DrivenInput } from './driven-input.ts';
import { HandUse } from './hand-use.ts';
import { inputKinds, PageUse } from './page-use.ts';

/** Long enough for a first pointer move, short enough for a quick visit. */
const FIRST_REPORT_MS = 4000;
/** A visitor who has not used a visible page by then is reading it, or is a program. */
const STILL_REPORT_MS = 30_000;
/** Of one session, from one page. */
const REPORTS_MAX = 5;

/** Counts from now on, so that no early input of a session that is already open is missed. Reports once there is one. */
export async function reportTelemetry(base: string, ready: Promise<boolean>, refused: () => void): Promise<void> {
  let jti = cookieSessionId();
  let use = new PageUse();
  let reports = 0;
  let reported = '';
  const driven = new DrivenInput();
  const hands = new HandUse();

  for (const type of ['pointerup', 'input', ...Object.keys(inputKinds)])
    listen(type, (event) => {
      if (type in inputKinds) use.count(event);
      driven.add(event);
      hands.add(event);
    });
  document.addEventListener('visibilitychange', () => use.turn());
  if (!(await ready)) return;
  if (isSameSession()) schedule();
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') send();
  });

  /** Starts again with a session that is new to this page. */
  function isSameSession(): boolean {
    const current = cookieSessionId();
    if (current === jti) return current !== null;
    // What was done before the page had a session is of the first one.
    if (jti !== null) hands.take();
    jti = current;
    use = new PageUse();
    reports = 0;
    reported = '';
    if (jti !== null) schedule();
    return false;
  }

  function schedule(): void {
    const scheduled = use;
    setTimeout(() => {
      if (use === scheduled) send();
    }, FIRST_REPORT_MS);
    setTimeout(() => {
      if (use === scheduled && document.visibilityState === 'visible') send(true);
    }, STILL_REPORT_MS);
  }

  function send(evenUnchanged = false): void {
    if (!isSameSession()) return;
    const state = use.state();
    if (reports >= REPORTS_MAX || (state === reported && !evenUnchanged)) return;
    reports++;
    reported = state;
    const traits = [...new Set([...automationTraits(), ...driven.traits])];
    const agent = hasAgentMarks() && ({ agent: true } as const);
    const report: TelemetryReport = { v: 1, ...use.report(), traits, ...agent, hands: hands.take() };
    void post(new Blob([JSON.stringify(report)], { type: 'application/json' }));
  }

  /**
   * Sends a report. When the gate refuses its session, the page opens a new one. A page that the visitor leaves sends a
   * beacon instead, and hears no answer.
   */
  async function post(body: Blob): Promise<void> {
    const url = `${base}/telemetry`;
    if (document.visibilityState === 'hidden') navigator.sendBeacon(url, body);
    else if ((await fetch(url, { method: 'POST', body, keepalive: true })).status === 401) refused();
  }
}

function listen(type: string, handle: (event: Event) => void): void {
  addEventListener(type, handle, { capture: true, passive: true });
}
