/** Views of one thing side by side. Each tab has an address of its own, so the tabs are links. */
export interface TabsProps {
  label: string;
  tabs: readonly { text: string; href: string; isCurrent: boolean }[];
}

export function Tabs({ label, tabs }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ text, href, isCurrent }) => (
        <a key={href} href={href} aria-current={isCurrent ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}
