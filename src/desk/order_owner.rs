//! The owner of a desk's orders: each organization of a data directory has a file of its own.
//!
//! `orders.db` was the only one once. It belongs to the organization that it names; where it names none, to the one
//! that inherits it.

use std::path::{Path, PathBuf};

use super::{file::DeskError, orders::OrderDatabase};

/// The organization whose orders are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderOwner {
    /// Id of the organization.
    pub organization: String,
    /// True where orders that name no organization are its own. It is the only organization there, or the one that
    /// every data directory begins with.
    pub inherits: bool,
}

/// The file of an owner's orders in a desk directory, which need not be there; without an owner all of the desk's are
/// meant.
pub(super) fn order_file(directory: &Path, owner: Option<&OrderOwner>) -> Result<PathBuf, DeskError> {
    let first = directory.join("orders.db");
    let Some(owner) = owner else { return Ok(first) };
    let own = directory.join(format!("orders-{}.db", owner.organization));
    if own.exists() {
        return Ok(own);
    }
    let is_own = match OrderDatabase::at(first.clone())? {
        None => owner.inherits,
        Some(orders) => match orders.owner()? {
            Some(organization) => organization == owner.organization,
            None => owner.inherits,
        },
    };
    Ok(if is_own { first } else { own })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Desk;
    use crate::domain::MerchantOrder;

    fn desk(directory: &Path, owner: Option<(&str, bool)>) -> Desk {
        let owner =
            owner.map(|(organization, inherits)| OrderOwner { organization: organization.to_owned(), inherits });
        Desk::open(directory).unwrap().with_orders_of(owner)
    }

    fn import(desk: &Desk, order_id: &str) {
        desk.make_orders()
            .unwrap()
            .import(vec![MerchantOrder { order_id: order_id.to_owned(), ..MerchantOrder::default() }])
            .unwrap();
    }

    fn has(desk: &Desk, order_id: &str) -> bool {
        desk.orders().unwrap().is_some_and(|orders| orders.named(order_id).unwrap().is_some())
    }

    #[test]
    fn each_organization_has_orders_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let [first, second] = [("1", true), ("2", false)].map(|owner| desk(directory.path(), Some(owner)));

        import(&second, "B");
        import(&first, "A");

        assert_eq!(
            [has(&first, "A"), has(&first, "B"), has(&second, "A"), has(&second, "B")],
            [true, false, false, true]
        );
    }

    #[test]
    fn orders_of_nobody_are_those_of_the_one_that_inherits_them() {
        let directory = tempfile::tempdir().unwrap();
        import(&desk(directory.path(), None), "old");
        let [first, second] = [("1", true), ("2", false)].map(|owner| desk(directory.path(), Some(owner)));

        assert_eq!([has(&second, "old"), has(&first, "old")], [false, true]);
    }

    #[test]
    fn what_was_an_only_organizations_stays_its_own_beside_others() {
        let directory = tempfile::tempdir().unwrap();
        import(&desk(directory.path(), None), "old");
        assert!(has(&desk(directory.path(), Some(("1", true))), "old"));

        let [first, second] = [("1", false), ("2", true)].map(|owner| desk(directory.path(), Some(owner)));

        assert_eq!([has(&first, "old"), has(&second, "old")], [true, false]);
    }
}
