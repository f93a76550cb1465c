/** What people without a session see: every way in that this service offers. */
import { useEffect, useState } from 'preact/hooks';
import type { Result } from '../../../result.ts';
import type { Entry } from '../../api/entry.ts';
import type { Refusal } from '../../api/send.ts';
import { loadSession } from '../../api/session.ts';
import {
  choices,
  choose,
  exchangeLink,
  goToIssuer,
  signInWays,
  signInWithAccess,
  signInWithPasskey,
} from '../../api/sign-in.ts';
import type { ShownMembership, SignInWays, SignedIn } from '../../api/sign-in.ts';
import { Button } from '../../components/button.tsx';
import { RefusalNotice } from '../../components/notice.tsx';

type Step =
  | { kind: 'working' }
  | { kind: 'ways'; error: Refusal | null }
  | { kind: 'choose'; ticket: string; accounts: readonly ShownMembership[] };

/** The service sends only the key of a refusal through the address: a text could be written by anybody. */
const refusals: Readonly<Record<string, string>> = {
  'CONSOLE.NOT_A_MEMBER': 'No account has a team member with your address. An admin of the account can add you.',
  'CONSOLE.SIGN_IN_LATE': 'The sign-in took too long, or was begun in another browser. Begin again.',
  'API.ACCOUNT_DISABLED': 'The account is disabled.',
};
const OTHER_REFUSAL = "The identity provider did not confirm the sign-in. The service's log says why.";

export interface SignInProps {
  entry: Entry;
  hasEnded: boolean;
  /** They have just signed out: nothing may sign them in again by itself. */
  hasLeft: boolean;
}

export default function SignIn({ entry, hasEnded, hasLeft }: SignInProps) {
  const [step, setStep] = useState<Step>({ kind: 'working' });
  const [ways, setWays] = useState<SignInWays | null>(null);
  const go = async (way: () => Promise<Result<SignedIn, Refusal>>): Promise<void> => {
    setStep({ kind: 'working' });
    const answer = await way();
    if (!answer.ok) setStep({ kind: 'ways', error: answer.error });
    else if (answer.value.signedIn) await loadSession();
    else setStep({ kind: 'choose', ticket: answer.value.ticket, accounts: answer.value.accounts });
  };
  useEffect(() => {
    document.title = 'Sign in · Gatehouse';
    const begin = async (): Promise<void> => {
      const offered = await signInWays();
      if (offered.ok) setWays(offered.value);
      if (entry.kind === 'link') return go(() => exchangeLink(entry.token));
      if (entry.kind === 'choose') {
        const listed = await choices(entry.ticket);
        return listed.ok
          ? setStep({ kind: 'choose', ticket: entry.ticket, accounts: listed.value.accounts })
          : setStep({ kind: 'ways', error: listed.error });
      }
      if (entry.kind === 'refused') return setStep({ kind: 'ways', error: refusalOf(entry.key) });
      if (offered.ok && offered.value.access && !hasLeft) return go(signInWithAccess);
      setStep({ kind: 'ways', error: offered.ok ? null : offered.error });
    };
    void begin();
  }, []);
  return (
    <div class="centre">
      <main id="content">
        <h1>{step.kind === 'choose' ? 'Choose an account' : 'Sign in to Gatehouse'}</h1>
        {hasEnded && <p role="status">Your session has ended. Sign in again to go on.</p>}
        {hasLeft && <p role="status">You are signed out.</p>}
        {step.kind === 'working' && <p role="status">One moment…</p>}
        {step.kind === 'choose' && (
          <AccountList accounts={step.accounts} onChoose={(id) => void go(() => choose(id, step.ticket))} />
        )}
        {step.kind === 'ways' && (
          <>
            {step.error !== null && <RefusalNotice error={step.error} />}
            <Button kind="primary" onClick={() => void go(signInWithPasskey)}>
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
            {ways?.access === true && <Button onClick={() => void go(signInWithAccess)}>Sign in with Access</Button>}
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

function refusalOf(key: string): Refusal {
  return { status: 0, key, message: refusals[key] ?? OTHER_REFUSAL, details: [], requestId: null };
}

export function AccountList({
  accounts,
  onChoose,
}: {
  accounts: readonly ShownMembership[];
  onChoose: (accountId: string) => void;
}) {
  return (
    <ul class="stack">
      {accounts.map(({ accountId, ownerEmail, role }) => (
        <li key={accountId}>
          <Button onClick={() => onChoose(accountId)}>
            {ownerEmail} <span class="soft">({role})</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}
