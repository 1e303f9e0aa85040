//! Which look goes with which method, as numbers: what is drawn decides on colours.

use aerofed::method::Registry;

/// Numbers for looks: a registered method keeps its colour through all figures, others get one of their own by the order in
/// which they appear, and labels of a method that stand side by side are shades of its colour. So is a method with
/// other parts, `cehfed[allocation=equal]`: what stands before the bracket says of which.
///
/// ```
/// use aerofed_experiment::styles::Styles;
/// let mut styles = Styles::default();
/// let cehfed = styles.of("cehfed", "cehfed");
/// assert_eq!(styles.of("mine", "mine"), Styles::FOREIGN);
/// assert_eq!(styles.of("cehfed[allocation=equal]", "equal"), cehfed + Styles::METHODS);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Styles {
    /// Methods that are not registered.
    foreign: Vec<String>,
    /// By place, the methods and labels that have a shade of it; none: kept for the method itself.
    shades: Vec<(usize, Option<(String, String)>)>,
}

impl Styles {
    /// How far apart the numbers of a method's shades are: registered methods are below [`Styles::FOREIGN`], others
    /// between that and this.
    pub const METHODS: usize = 32;
    /// The number of the first method that is not registered.
    pub const FOREIGN: usize = 26;

    /// For a method's first label its place in the registry, or one from [`Styles::FOREIGN`] on if it is not
    /// registered; for each further one, and for a method with other parts, [`Styles::METHODS`] more.
    pub fn of(&mut self, method: &str, label: &str) -> usize {
        let base = method.split('[').next().unwrap_or(method).trim_end();
        let place = self.place(base);
        let shade = self.shade(place, method, label, base == method);
        place + Self::METHODS * shade
    }

    fn place(&mut self, base: &str) -> usize {
        // Those that come with the program: a program that adds its own sees them in colours of their own.
        let built_in = Registry::builtin();
        let known = built_in.names().position(|name| name == base);
        match known {
            Some(place) => place % Self::FOREIGN,
            None => {
                let known = self.foreign.iter().position(|name| name == base);
                let index = known.unwrap_or_else(|| {
                    self.foreign.push(base.into());
                    self.foreign.len() - 1
                });
                // More of them than there are colours become shades of each other's.
                Self::FOREIGN + index % (Self::METHODS - Self::FOREIGN)
            }
        }
    }

    fn shade(&mut self, place: usize, method: &str, label: &str, whole: bool) -> usize {
        let mine = Some((method.to_owned(), label.to_owned()));
        let of_place = self.shades.iter_mut().filter(|shade| shade.0 == place);
        let mut shades: Vec<_> = of_place.map(|(_, shade)| shade).collect();
        if let Some(known) = shades.iter().position(|shade| **shade == mine) {
            return known;
        }
        if whole && let Some(kept) = shades.iter().position(|shade| shade.is_none()) {
            *shades[kept] = mine;
            return kept;
        }
        let mut next = shades.len();
        if next == 0 && !whole {
            // The full colour is the method's own, whether or not it comes later.
            self.shades.push((place, None));
            next = 1;
        }
        self.shades.push((place, mine));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_number_for_every_method() {
        let built_in = Registry::builtin();
        assert!(built_in.entries().len() <= Styles::FOREIGN);
        let mut styles = Styles::default();
        for (place, entry) in built_in.entries().iter().enumerate() {
            assert_eq!(styles.of(entry.name(), entry.name()), place);
            assert_eq!(styles.of(entry.name(), "other"), place + Styles::METHODS);
            assert_eq!(styles.of(entry.name(), entry.name()), place);
        }
    }

    #[test]
    fn foreign_methods_are_numbered_as_they_appear() {
        let mut styles = Styles::default();
        let colours = Styles::METHODS - Styles::FOREIGN;
        for index in 0..2 * colours {
            let name = format!("mine{index}");
            let round = index / colours * Styles::METHODS;
            let expected = Styles::FOREIGN + index % colours + round;
            assert_eq!(styles.of(&name, &name), expected);
        }
        assert_eq!(styles.of("mine1", "mine1"), Styles::FOREIGN + 1);
    }

    #[test]
    fn a_method_with_other_parts_is_a_shade_even_when_it_comes_first() {
        let mut styles = Styles::default();
        let part = |name: &str| format!("{name}[allocation=equal]");
        let (cehfed, mine) = (part("cehfed"), part("mine"));
        assert_eq!(styles.of(&cehfed, &cehfed), Styles::METHODS);
        assert_eq!(styles.of("cehfed", "a label"), 0);
        assert_eq!(styles.of("cehfed", "another"), 2 * Styles::METHODS);
        assert_eq!(styles.of(&cehfed, &cehfed), Styles::METHODS);
        assert_eq!(styles.of(&mine, &mine), Styles::FOREIGN + Styles::METHODS);
        assert_eq!(styles.of("mine", "mine"), Styles::FOREIGN);
    }
}
