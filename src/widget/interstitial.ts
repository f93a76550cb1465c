/**
 * The script of the challenge page: solves the challenge, has the edge verify it, then reloads the page the visitor
 * wanted or sends the held submission, once. The edge has already written every text into the page, in the visitor's
 * language; this script chooses which one shows.
 */
import { offerCopy } from './copy-reference.ts';
import { cookiesWork, countPass, forgetPasses, isLooping } from './interstitial/loop-guard.ts';
import { safeReturnTarget } from './interstitial/return-target.ts';
import { loadAsset } from './loading/asset-loader.ts';
import { scriptLocation } from './loading/script-location.ts';
import type { GatehouseProtect } from './protect.ts';
import { asCaptchaError, type ErrorState } from './token/captcha-error.ts';
import { createHoneypot } from './token/honeypot.ts';
import { passChallenge } from './token/obtain-token.ts';
import type { VisualModule } from './visual/visual-module.ts';

/** Names of the texts in the page: `<template data-state="…">`. */
type State = 'working' | 'done' | 'sent' | 'cookies' | ErrorState;

/** A visitor waits no longer for a session than a form of the site does. */
const SESSION_MAX_MS = 8000;

const script = scriptLocation();

/** Whatever goes wrong, the challenge goes on: it does not need a session. `blocked`: what to say where a blocker stops it. */
async function openSession(blocked: HTMLElement): Promise<void> {
  const opened = loadAsset(script, 'protect').then(
    () => (window as { gatehouseProtect?: GatehouseProtect }).gatehouseProtect?.ready,
    () => {
      blocked.dataset['shown'] = '';
    },
  );
  await Promise.race([opened, new Promise((resolve) => setTimeout(resolve, SESSION_MAX_MS))]);
}

function start(root: HTMLElement): void {
  const status = root.querySelector<HTMLElement>('[role=status]')!;
  const meter = root.querySelector<HTMLProgressElement>('progress')!;
  const retry = root.querySelector<HTMLButtonElement>('button')!;
  const reference = root.querySelector<HTMLElement>('.reference')!;
  const blocked = root.querySelector<HTMLElement>('.blocked')!;
  const panel = root.querySelector<HTMLElement>('[data-visual]')!;
  const heldForm = root.querySelector<HTMLFormElement>('form');
  const { api = '/__protect', sitekey = '', action = '', returnTo = '/', level = '0' } = root.dataset;
  let sent = false;
  /** Before the challenge, which costs what the session's risk asks for. */
  let session: Promise<void> | undefined;

  function text(state: State): string {
    return (root.querySelector(`template[data-state=${state}]`) as HTMLTemplateElement).content.textContent;
  }

  function show(state: State): void {
    status.textContent = text(state);
    status.className = '';
    status.dataset['state'] = state;
    const busy = state === 'working' || state === 'done';
    meter.hidden = !busy;
    retry.hidden = busy || state === 'sent';
    if (!retry.hidden) reference.hidden = false;
  }

  async function pass(): Promise<void> {
    show('working');
    meter.value = 0;
    try {
      await (session ??= 'session' in root.dataset ? openSession(blocked) : Promise.resolve());
      await passChallenge({
        location: script,
        apiBase: api,
        siteKey: sitekey,
        action,
        level: Number(level),
        signal: new AbortController().signal,
        onProgress(done) {
          meter.value = done;
          panel.style.setProperty('--done', done.toFixed(2));
        },
        async showVisual(task) {
          const visual = await loadAsset<VisualModule>(script, 'visual');
          meter.hidden = true;
          status.textContent = '';
          status.className = 'unseen';
          const outcome = await visual.showVisual(panel, task, document.documentElement.lang);
          // The task stays in place, with a progress bar of its own, until the next one replaces it.
          status.textContent = text('working');
          return outcome;
        },
        readHoneypot: createHoneypot(root),
      });
      panel.replaceChildren();
      countPass(Date.now());
      leave();
    } catch (error) {
      panel.replaceChildren();
      show(asCaptchaError(error).state);
      retry.focus();
    }
  }

  function leave(): void {
    show('done');
    if (heldForm !== null) {
      sent = true;
      heldForm.submit();
      return;
    }
    const target = safeReturnTarget(returnTo, location.origin);
    // A reload keeps the fragment and the Referer of the visitor's own navigation.
    if (target === location.href.split('#', 1)[0]) location.reload();
    else location.replace(target);
  }

  retry.addEventListener('click', () => {
    forgetPasses();
    void (cookiesWork() ? pass() : show('cookies'));
  });
  window.addEventListener('online', () => {
    if (status.dataset['state'] === 'offline') void pass();
  });
  // The browser restores this page when the visitor goes back: a held submission must not be sent twice.
  window.addEventListener('pageshow', (event) => {
    if (!event.persisted) return;
    if (sent) show('sent');
    else location.reload();
  });
  if (!cookiesWork() || isLooping(Date.now())) show('cookies');
  else void pass();
}

const root = document.getElementById('gatehouse');
if (root !== null) start(root);

offerCopy();
