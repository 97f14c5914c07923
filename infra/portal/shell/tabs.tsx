/** Links between the parts of a view. */

interface TabsProps {
  label: string;
  tabs: readonly { href: string; label: string; isOpen: boolean }[];
}

/** Nothing if there is only one part. */
export const Tabs = ({ label, tabs }: TabsProps) =>
  tabs.length < 2 ? null : (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.href} href={tab.href} aria-current={tab.isOpen ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  );
