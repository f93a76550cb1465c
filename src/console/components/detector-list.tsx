/** What a risk score is made of: a sentence for each part, whose name is its hint. */
import type { ComponentChildren } from 'preact';
import { Chip } from './values.tsx';

export interface DetectorListProps {
  parts: readonly { detector: string; weight: number; says?: string | undefined }[];
  /** The line after the parts. */
  children?: ComponentChildren;
}

export function DetectorList({ parts, children }: DetectorListProps) {
  return (
    <ul class="plain-list">
      {parts.map(({ detector, weight, says }) => (
        <li key={detector} title={detector}>
          {says ?? detector} <Chip>+{weight}</Chip>
        </li>
      ))}
      {children}
    </ul>
  );
}
