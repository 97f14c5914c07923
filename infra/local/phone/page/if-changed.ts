import { Component, type ComponentChildren, createElement } from 'preact';

/** A component that is rendered again only when one of its properties is another one. */
export const ifChanged = <Props extends object>(Inner: (props: Props) => ComponentChildren) =>
  class extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const [now, later] = [Object.entries(this.props), Object.entries(next)];
      return now.length !== later.length || later.some(([name, value]) => Object(this.props)[name] !== value);
    }

    override render(props: Props): ComponentChildren {
      return createElement(Inner, props);
    }
  };
