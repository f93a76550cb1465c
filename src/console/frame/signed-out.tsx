/** What people without a session see. */
export function SignedOut({ hasEnded }: { hasEnded: boolean }) {
  return (
    <div class="centre">
      <main id="content">
        <h1>Sign in to Gatehouse</h1>
        {hasEnded && <p role="status">Your session has ended. Sign in again to go on.</p>}
        <p>Open a sign-in link. An operator of this service makes one with:</p>
        <code>npm run gatehouse -- signin --email you@example.com</code>
      </main>
    </div>
  );
}
