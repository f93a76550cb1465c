/** What people without a session see: every way in that this service offers. */
import { useEffect, useState } from 'preact/hooks';
import type { Me } from '../../../contract/console/sign-in.ts';
import { type Refusal, useSent } from '../../api/call.ts';
import type { ConsoleArrival } from '../../api/entry.ts';
import { loadSession } from '../../api/session.ts';
import {
  goToIssuer,
  signInWays,
  type ShownMembership,
  type SignInQuestion,
  type SignInWays,
  type WayIn,
  withAccess,
  withChoice,
  withIssuer,
  withLink,
  withPasskey,
} from '../../api/sign-in.ts';
import { Button } from '../../components/button.tsx';
import { RefusalNotice } from '../../components/page.tsx';
import { VisitorText } from '../../components/values.tsx';
import { AccountList } from './account-list.tsx';

type Step =
  | { kind: 'working' }
  | { kind: 'ways'; error: Refusal | null }
  | { kind: 'question'; question: SignInQuestion; way: WayIn }
  | { kind: 'choose'; ticket: string; accounts: readonly ShownMembership[]; replaces: string | undefined };

/** The service sends only the key of a refusal through the address: a text could be written by anybody. */
const refusals: ReadonlyMap<string, string> = new Map([
  ['CONSOLE.SIGN_IN_LATE', 'The sign-in took too long, or was begun in another browser. Begin again.'],
]);
const OTHER_REFUSAL = "The identity provider did not confirm the sign-in. The service's log says why.";

const titles: Readonly<Record<Step['kind'], string>> = {
  working: 'Sign in to Gatehouse',
  ways: 'Sign in to Gatehouse',
  question: 'Sign in as somebody else?',
  choose: 'Choose an account',
};

export interface SignInProps {
  entry: ConsoleArrival;
  hasEnded: boolean;
  /** They have just signed out: nothing may sign them in again by itself. */
  hasLeft: boolean;
}

export default function SignIn({ entry, hasEnded, hasLeft }: SignInProps) {
  const [step, setStep] = useState<Step>({ kind: 'working' });
  const [ways, setWays] = useState<SignInWays | null>(null);
  const go = async (way: WayIn, replaces?: string): Promise<void> => {
    setStep({ kind: 'working' });
    const answer = await way(replaces);
    if (!answer.ok) setStep({ kind: 'ways', error: answer.error });
    else if (answer.value.signedIn) await loadSession();
    else if ('ticket' in answer.value) setStep({ kind: 'choose', ...answer.value, replaces });
    else setStep({ kind: 'question', question: answer.value, way });
  };
  useEffect(() => {
    document.title = 'Sign in · Gatehouse';
    const begin = async (): Promise<void> => {
      const offered = await signInWays();
      if (offered.ok) setWays(offered.value);
      if (entry.kind === 'link') return go(withLink(entry.token));
      if (entry.kind === 'issuer') return go(withIssuer);
      if (entry.kind === 'refused') return setStep({ kind: 'ways', error: refusalOf(entry.key) });
      if (offered.ok && offered.value.access && !hasLeft) return go(withAccess);
      setStep({ kind: 'ways', error: offered.ok ? null : offered.error });
    };
    void begin();
  }, []);
  return (
    <div class="centre">
      <main id="content">
        <h1>{titles[step.kind]}</h1>
        {hasEnded && <p role="status">Your session has ended. Sign in again to go on.</p>}
        {hasLeft && <p role="status">You are signed out.</p>}
        {step.kind === 'working' && <p role="status">One moment…</p>}
        {step.kind === 'choose' && (
          <AccountList
            accounts={step.accounts}
            onChoose={(id) => void go(withChoice(id, step.ticket), step.replaces)}
          />
        )}
        {step.kind === 'question' && (
          <Question
            {...step.question}
            onYes={() => void go(step.way, step.question.isSignedInAs)}
            onNo={() => void loadSession()}
          />
        )}
        {step.kind === 'ways' && (
          <>
            <RefusalNotice error={step.error} />
            {step.error !== null && entry.kind !== 'plain' && <WayBack />}
            <Button kind="primary" onClick={() => void go(withPasskey())}>
              Sign in with a passkey
            </Button>
            {ways?.oidc === true && (
              <Button
                onClick={() =>
                  void goToIssuer().then((answer) => !answer.ok && setStep({ kind: 'ways', error: answer.error }))
                }
              >
                Sign in with your organisation
              </Button>
            )}
            {ways?.access === true && <Button onClick={() => void go(withAccess)}>Sign in with Access</Button>}
            <div class="stack">
              <p class="soft">The first time, or without your passkey: an operator of this service makes a link with</p>
              <code>npm run gatehouse -- signin --email you@example.com</code>
            </div>
          </>
        )}
      </main>
    </div>
  );
}

/** A link that is spent or made up takes nobody's session away. */
function WayBack() {
  const { value } = useSent<Me>({ method: 'GET', path: '/console/auth/me' });
  if (value === null) return null;
  return (
    <p>
      You are still signed in as <VisitorText text={value.email} />. <a href="/console">Back to the console</a>
    </p>
  );
}

/** A link may come from anybody: nobody is to work in the name of somebody else without noticing. */
function Question({
  isSignedInAs,
  signsInAs,
  onYes,
  onNo,
}: Omit<SignInQuestion, 'signedIn'> & { onYes: () => void; onNo: () => void }) {
  return (
    <>
      <p>
        You are signed in as <VisitorText text={isSignedInAs} />. Sign in as <VisitorText text={signsInAs} />?
      </p>
      <p class="soft">
        Your session ends then, in every tab of this browser. Go on only if you asked for this sign-in.
      </p>
      <div class="actions">
        <Button kind="primary" onClick={onNo}>
          Stay signed in as {isSignedInAs}
        </Button>
        <Button onClick={onYes}>Sign in as {signsInAs}</Button>
      </div>
    </>
  );
}

function refusalOf(key: string): Refusal {
  return { status: 0, key, message: refusals.get(key) ?? OTHER_REFUSAL, details: [], requestId: null };
}
