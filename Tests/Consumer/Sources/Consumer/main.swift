import GarageSQLite
import GarageStorage
print("consumer")
