/** Browsers in which the person is signed in. What a browser calls itself is text of a stranger. */
import { revokeSession, type ShownSession } from '../../api/sign-in.ts';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { Section } from '../../components/facts.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { browserName } from '../../format/browser-name.ts';
import type { Act } from './act.ts';

const methods: Readonly<Record<ShownSession['method'], string>> = {
  link: 'one-time link',
  passkey: 'passkey',
  oidc: 'OpenID Connect',
  access: 'Cloudflare Access',
};

export function Sessions({ sessions, act }: { sessions: readonly ShownSession[]; act: Act }) {
  return (
    <Section title="Sessions">
      <Table
        caption="Sessions"
        rows={sessions}
        keyOf={({ id }) => id}
        isCurrent={({ current }) => current}
        columns={[
          { title: 'Browser', isWide: true, cell: ({ userAgent }) => <BrowserName userAgent={userAgent} /> },
          { title: 'Address', cell: ({ address }) => <VisitorText text={address} /> },
          { title: 'Signed in with', cell: ({ method }) => methods[method] },
          { title: 'Signed in', cell: ({ signedInAt }) => <Time at={signedInAt} /> },
          { title: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
          {
            title: 'Actions',
            cell: ({ id, current }) =>
              current ? (
                <Chip tone="info">this browser</Chip>
              ) : (
                <Button
                  isSmall
                  kind="danger"
                  onClick={() => void act(() => revokeSession(id), 'The session has ended.')}
                >
                  End
                </Button>
              ),
          },
        ]}
      />
      <p class="hint">A session ends 12 hours after its last call, and after seven days in any case.</p>
    </Section>
  );
}

/** The whole text comes from a stranger: as a title it is text and nothing else. */
function BrowserName({ userAgent }: { userAgent: string }) {
  const name = browserName(userAgent);
  return name === null ? <VisitorText text={userAgent} maxChars={40} /> : <span title={userAgent}>{name}</span>;
}
