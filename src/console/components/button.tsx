/** Buttons and links that look like buttons. `danger` is for what cannot be undone. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

interface Look {
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  isSmall?: boolean;
  children: ComponentChildren;
}

const classOf = ({ kind = 'plain', isSmall = false }: Look): string =>
  `button button-${kind}${isSmall ? ' button-small' : ''}`;

export interface ButtonProps extends Look {
  onClick?: () => void;
  type?: 'button' | 'submit';
  /** Id of the form that it submits, when it is not inside. */
  form?: string;
  isDisabled?: boolean;
  /** While its work runs. The button keeps its width and ignores clicks. */
  isBusy?: boolean;
  label?: string;
  title?: string;
  /** It shows or hides what follows it. */
  isExpanded?: boolean;
}

export function Button(props: ButtonProps) {
  const {
    children,
    onClick,
    type = 'button',
    form,
    isDisabled = false,
    isBusy = false,
    label,
    title,
    isExpanded,
  } = props;
  return (
    <button
      type={type}
      form={form}
      class={classOf(props)}
      disabled={isDisabled}
      aria-busy={isBusy}
      aria-label={label}
      aria-expanded={isExpanded}
      title={title}
      onClick={isBusy ? undefined : onClick}
    >
      {children}
    </button>
  );
}

export function ButtonLink({ href, ...look }: Look & { href: string }) {
  return (
    <a class={classOf(look)} href={href}>
      {look.children}
    </a>
  );
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'refused'>('ready');
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      // Without the permission, the text can still be selected.
      () => setState('refused'),
    );
    setTimeout(() => setState('ready'), 2000);
  };
  const words = { ready: label, copied: 'Copied', refused: 'Select it and copy' };
  return (
    <Button isSmall onClick={copy}>
      {words[state]}
    </Button>
  );
}
